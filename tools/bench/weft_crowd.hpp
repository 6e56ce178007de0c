// SPDX-License-Identifier: Apache-2.0
// Streams over many weft connections at a time, with one completion queue for all of them, as a server has it. Each
// connection has the depth to itself and carries its share of the messages.
#pragma once

#include <memory>
#include <vector>

#include "tools/bench/weft_endpoint.hpp"

namespace weft::tools::bench {

class WeftCrowd final : public Endpoint {
 public:
  // At least one; their completion queue is the same.
  WeftCrowd(std::vector<std::unique_ptr<WeftEndpoint>> members, const Options& options);

  Outcome<void> prepare(Waiting waiting) override;
  Outcome<RunResult> lead(std::uint64_t messages) override;
  Outcome<void> follow(std::uint64_t messages) override;
  // One member after another.
  Outcome<void> lead_check(std::uint8_t seed) override;
  Outcome<void> follow_check(std::uint8_t seed) override;

 private:
  Outcome<void> post_streams(std::uint64_t share);
  Outcome<bool> post_where_there_is_room(std::vector<std::uint64_t>& left);
  Outcome<void> fill(WeftPort& port, std::uint64_t& left);
  Outcome<void> wait_for_more();
  Outcome<void> await_reads();
  Outcome<void> receive_sends(std::uint64_t messages);
  Outcome<void> hear_all();
  [[nodiscard]] WeftPort& spokesman() noexcept { return members_.front()->port(); }

  std::vector<std::unique_ptr<WeftEndpoint>> members_;
  Options options_;
};

}  // namespace weft::tools::bench
