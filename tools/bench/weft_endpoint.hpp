// SPDX-License-Identifier: Apache-2.0
// The patterns of tools/bench/endpoint.hpp over a weft connection. Both ends spin in poll, as latency-minded RDMA
// programs do, or sleep where Options::blocking says so.
#pragma once

#include "tools/bench/endpoint.hpp"
#include "tools/bench/weft_port.hpp"

namespace weft::tools::bench {

class WeftEndpoint : public Endpoint {
 public:
  WeftEndpoint(WeftPort port, const Options& options) : options_(options), port_(std::move(port)) {}

  Outcome<void> prepare(Waiting waiting) override;
  Outcome<RunResult> lead(std::uint64_t messages) override;
  Outcome<void> follow(std::uint64_t messages) override;
  Outcome<void> lead_check(std::uint8_t seed) override;
  Outcome<void> follow_check(std::uint8_t seed) override;

  [[nodiscard]] WeftPort& port() noexcept { return port_; }

 protected:
  // One message that is marked already, and the end of waiting for the peer's Write: perftest's pattern differs there.
  virtual Outcome<void> post_message();
  virtual Outcome<void> await_write();
  // Returns whether the peer's Write has come that ends this round.
  [[nodiscard]] bool round_came();
  void begin_round() noexcept { ++round_; }
  Outcome<void> post_stream(std::uint64_t messages);
  Outcome<void> say_and_hear();
  Outcome<void> hear_and_say();
  [[nodiscard]] const Options& options() const noexcept { return options_; }

 private:
  Outcome<void> lead_latency(std::uint64_t messages, std::vector<double>& samples);
  Outcome<void> lead_stream(std::uint64_t messages);
  Outcome<void> one_message();
  void mark(std::uint8_t round);
  Outcome<void> next_message();
  Outcome<void> serve_reads();
  Outcome<void> follow_ping_pong(std::uint64_t messages);
  Outcome<void> follow_sends(std::uint64_t messages);
  Outcome<void> verify(Bytes octets, std::uint8_t seed);

  Options options_;
  WeftPort port_;
  std::uint8_t round_ = 0;  // of the Write ping-pong: the value that the last octet takes next
};

}  // namespace weft::tools::bench
