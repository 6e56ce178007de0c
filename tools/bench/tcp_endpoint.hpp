// SPDX-License-Identifier: Apache-2.0
// The patterns of tools/bench/endpoint.hpp over a raw TCP connection, in clear or with OpenSSL, written as a careful
// program without RDMA would: lists of small messages leave in one sendmsg, a stream is received in large reads.
#pragma once

#include <memory>
#include <vector>

#include "tools/bench/endpoint.hpp"
#include "tools/bench/tcp_socket.hpp"

namespace weft::tools::bench {

class TcpEndpoint final : public Endpoint {
 public:
  TcpEndpoint(std::unique_ptr<RawStream> stream, const Options& options);

  Outcome<void> prepare(Waiting waiting) override;
  Outcome<RunResult> lead(std::uint64_t messages) override;
  Outcome<void> follow(std::uint64_t messages) override;
  Outcome<void> lead_check(std::uint8_t seed) override;
  Outcome<void> follow_check(std::uint8_t seed) override;

 private:
  Outcome<void> lead_one();
  Outcome<void> lead_stream(std::uint64_t messages);
  Outcome<void> lead_read_stream(std::uint64_t messages);
  Outcome<void> follow_latency(std::uint64_t messages);
  Outcome<void> follow_stream(std::uint64_t messages);
  Outcome<void> follow_read_stream(std::uint64_t messages);
  Outcome<void> receive_stream(std::uint64_t octets);

  std::unique_ptr<RawStream> stream_;
  Options options_;
  Waiting waiting_ = Waiting::kPoll;
  std::vector<std::byte> message_;   // what we send
  std::vector<std::byte> received_;  // one message of the peer
  std::vector<std::byte> staging_;   // large reads of a stream
  std::vector<std::byte> request_;   // what asks for a read
};

}  // namespace weft::tools::bench
