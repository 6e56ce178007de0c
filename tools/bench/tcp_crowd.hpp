// SPDX-License-Identifier: Apache-2.0
// Streams over many raw TCP sockets at a time, in clear or with OpenSSL, as a careful single-threaded server without
// RDMA would: non-blocking sockets, edge-triggered epoll, each socket served for as long as it takes or gives
// something.
#pragma once

#include <memory>
#include <vector>

#include "tools/bench/endpoint.hpp"
#include "tools/bench/tcp_socket.hpp"

namespace weft::tools::bench {

class TcpCrowd final : public Endpoint {
 public:
  static Outcome<std::unique_ptr<Endpoint>> create(std::vector<std::unique_ptr<RawStream>> streams,
                                                   const Options& options);

  Outcome<void> prepare(Waiting waiting) override;
  Outcome<RunResult> lead(std::uint64_t messages) override;
  Outcome<void> follow(std::uint64_t messages) override;
  Outcome<void> lead_check(std::uint8_t seed) override;
  Outcome<void> follow_check(std::uint8_t seed) override;

 private:
  // One socket within a run. What is sent is the same message again and again.
  struct Lane {
    std::unique_ptr<RawStream> stream{};
    std::uint64_t sent{};  // octets
    std::uint64_t received{};
    bool writable = true;  // as far as is known
    bool readable = true;
  };
  // What a run means for each socket. `may_send` says how many octets may have been sent in all, given those received.
  struct Plan {
    Bytes unit{};  // what is sent again and again
    std::uint64_t to_send{};
    std::uint64_t to_receive{};
    std::uint64_t (*may_send)(const Options& options, std::uint64_t messages, std::uint64_t received){};
    std::uint64_t messages{};  // of one socket
  };

  TcpCrowd(std::vector<Lane> lanes, UniqueFd epoll, const Options& options);
  [[nodiscard]] Plan leaders_plan(std::uint64_t messages) const;
  [[nodiscard]] Plan followers_plan(std::uint64_t messages) const;
  Outcome<void> run(const Plan& plan);
  Outcome<bool> serve(Lane& lane, const Plan& plan);
  Outcome<bool> send_some(Lane& lane, const Plan& plan);
  Outcome<bool> receive_some(Lane& lane, const Plan& plan);
  Outcome<bool> take_events();

  std::vector<Lane> lanes_;
  UniqueFd epoll_;
  Options options_;
  Waiting waiting_ = Waiting::kPoll;
  std::vector<std::byte> message_;
  std::vector<std::byte> request_;
  std::vector<std::byte> staging_;
};

}  // namespace weft::tools::bench
