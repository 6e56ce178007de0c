// SPDX-License-Identifier: Apache-2.0
// How many objects of one kind may live at a time, and the places that they take. Any thread, no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "verbs/error.hpp"

namespace weft::verbs::detail {

class Quota {
 public:
  // The place of one object, given back when it goes.
  class Share {
   public:
    Share() = default;  // of nothing: counts nowhere
    Share(Share&&) noexcept = default;
    Share& operator=(Share&& other) noexcept {
      drop();
      quota_ = std::move(other.quota_);
      return *this;
    }
    ~Share() { drop(); }
    void drop() noexcept {
      if (const auto quota = std::exchange(quota_, nullptr)) --quota->taken_;
    }

   private:
    friend class Quota;
    explicit Share(std::shared_ptr<Quota> quota) noexcept : quota_(std::move(quota)) {}
    std::shared_ptr<Quota> quota_{};
  };

  Quota(std::string_view name, std::uint32_t limit) noexcept : name_(name), limit_(limit) {}

  // Errc::kNoResources, naming the limit, when all places are taken.
  [[nodiscard]] static Result<Share> take(const std::shared_ptr<Quota>& from) {
    std::uint32_t taken = from->taken_;
    do {
      if (taken >= from->limit_) return fail(Errc::kNoResources, from->name_, "the device holds that many already");
    } while (!from->taken_.compare_exchange_weak(taken, taken + 1));
    return Share(from);
  }

 private:
  const std::string_view name_;  // the member of DeviceLimits
  const std::uint32_t limit_;
  std::atomic<std::uint32_t> taken_{0};
};

}  // namespace weft::verbs::detail
