// SPDX-License-Identifier: Apache-2.0
// A limit of concurrent objects of one kind, or of octets, and the shares taken from it. Thread-safe, lock-free.
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
      amount_ = other.amount_;
      return *this;
    }
    ~Share() { drop(); }
    void drop() noexcept {
      if (const auto quota = std::exchange(quota_, nullptr)) quota->taken_ -= amount_;
    }

   private:
    friend class Quota;
    Share(std::shared_ptr<Quota> quota, std::uint64_t amount) noexcept : quota_(std::move(quota)), amount_(amount) {}
    std::shared_ptr<Quota> quota_{};
    std::uint64_t amount_ = 0;
  };

  Quota(std::string_view name, std::uint64_t limit,
        std::string_view refusal = "the device holds that many already") noexcept
      : name_(name), refusal_(refusal), limit_(limit) {}

  // Errc::kNoResources, naming the limit, when all places are taken.
  [[nodiscard]] static Result<Share> take(const std::shared_ptr<Quota>& from, std::uint64_t amount = 1) {
    std::uint64_t taken = from->taken_;
    do {
      const std::uint64_t limit = from->limit_;
      if (taken > limit || amount > limit - taken) return fail(Errc::kNoResources, from->name_, from->refusal_);
    } while (!from->taken_.compare_exchange_weak(taken, taken + amount));
    return Share(from, amount);
  }
  // What is taken beyond a smaller one stays.
  void set_limit(std::uint64_t limit) noexcept { limit_ = limit; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

 private:
  const std::string_view name_;  // what the error calls it: the member of DeviceLimits, or the argument
  const std::string_view refusal_;
  std::atomic<std::uint64_t> limit_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace weft::verbs::detail
