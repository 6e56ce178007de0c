// SPDX-License-Identifier: Apache-2.0
// perftest's patterns, so that what its programs measure over the drop-in libraries can be held against the C++ API.
//
//   ib_write_lat   posts a Write, polls its completion queue until that is complete, and then looks at the last octet
//                  of its buffer and at nothing else: the progress thread alone brings what the peer writes.
//   ib_write_bw    keeps 128 Writes under way, reports each 100th, and stops the clock at the last completion, which
//                  over TCP means that the kernel has taken them all. Meanwhile the receiver spins on the completion
//                  queue of another connection, over which the two agree on beginning and end: `side`.
//
// Neither end yields, and only --pinned pins them to a processor.
#pragma once

#include "tools/bench/weft_endpoint.hpp"

namespace weft::tools::bench {

class PerftestEndpoint final : public WeftEndpoint {
 public:
  PerftestEndpoint(WeftPort port, WeftPort side, const Options& options)
      : WeftEndpoint(std::move(port), options), side_(std::move(side)) {}

  Outcome<RunResult> lead(std::uint64_t messages) override;
  Outcome<void> follow(std::uint64_t messages) override;

 private:
  Outcome<void> post_message() override;
  Outcome<void> await_write() override;
  Outcome<void> await_completions();

  WeftPort side_;
};

}  // namespace weft::tools::bench
