// SPDX-License-Identifier: Apache-2.0
// Set-ups of connections, one after the other: the leader calls, the follower answers, and both close before the next
// one. A sample is the time until the caller knows that the other end has taken the connection: of weft its Reply, of
// raw TCP an octet there and one back.
#pragma once

#include "tools/bench/endpoint.hpp"

namespace weft::tools::bench {

class Calls : public Endpoint {
 public:
  explicit Calls(Caller caller = Caller::kSame) noexcept : caller_(caller) {}

  Outcome<void> prepare(Waiting waiting) override;
  Outcome<RunResult> lead(std::uint64_t messages) override;
  Outcome<void> follow(std::uint64_t messages) override;
  Outcome<void> lead_check(std::uint8_t seed) override;
  Outcome<void> follow_check(std::uint8_t seed) override;

 protected:
  [[nodiscard]] bool is_fresh() const noexcept { return caller_ == Caller::kFresh; }

 private:
  // One connection: seconds until it was set up. It has been closed when this returns.
  virtual Outcome<double> call() { return failure("this end answers."); }
  virtual Outcome<void> answer() { return failure("this end calls."); }
  Outcome<double> call_from_new_process();

  Caller caller_;
};

}  // namespace weft::tools::bench
