// SPDX-License-Identifier: Apache-2.0
// Set-ups of raw TCP connections, in clear or with OpenSSL.
#pragma once

#include <optional>
#include <utility>

#include "tools/bench/calls.hpp"
#include "tools/bench/stream_maker.hpp"
#include "tools/bench/tcp_socket.hpp"

namespace weft::tools::bench {

class RawCalls final : public Calls {
 public:
  RawCalls(std::uint16_t port, Caller caller, verbs::Policy policy, Protection protection)
      : Calls(caller), port_(port), policy_(std::move(policy)), protection_(protection) {}

 private:
  Outcome<double> call() override;

  std::uint16_t port_;
  verbs::Policy policy_;
  Protection protection_;
  std::optional<StreamMaker> maker_{};  // made by the first call: a new process makes its own
};

class RawAnswers final : public Calls {
 public:
  RawAnswers(TcpListener listener, StreamMaker maker) : listener_(std::move(listener)), maker_(std::move(maker)) {}

 private:
  Outcome<void> answer() override;

  TcpListener listener_;
  StreamMaker maker_;
};

}  // namespace weft::tools::bench
