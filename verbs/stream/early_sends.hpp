// SPDX-License-Identifier: Apache-2.0
// Sends that were posted before there was a connection, in order. They are copies, because the caller's lists and
// inline octets last only as long as its call.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <vector>

#include "verbs/memory/local_work.hpp"
#include "verbs/queue_pair.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

class EarlySends {
 public:
  Result<void> add(const SendRequest& request, const QueuePairAttributes& limits);
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
  [[nodiscard]] const SendRequest& front() const noexcept { return waiting_.front().request; }
  // Returns the local work of a bind or a local invalidation, otherwise null.
  [[nodiscard]] LocalWork* front_local() noexcept {
    auto& local = waiting_.front().local;
    return local ? &*local : nullptr;
  }
  void pop() noexcept { waiting_.pop_front(); }

 private:
  struct Waiting {
    SendRequest request{};
    std::vector<Sge> segments{};
    std::vector<std::byte> octets{};  // of an inline request
    std::optional<LocalWork> local{};
  };
  std::list<Waiting> waiting_;
};

}  // namespace weft::verbs::detail
