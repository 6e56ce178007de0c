// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/raw_calls.hpp"

#include <chrono>
#include <utility>

#include "tools/bench/patience.hpp"

namespace weft::tools::bench {
namespace {

constexpr std::byte kWord{1};

}  // namespace

Outcome<double> RawCalls::call() {
  const auto begin = std::chrono::steady_clock::now();
  if (!maker_) {
    auto made = StreamMaker::make(policy_, protection_);
    if (!made) return std::unexpected(made.error());
    maker_.emplace(std::move(*made));
  }
  auto socket = tcp_connect_to_loopback(port_);
  if (!socket) return std::unexpected(socket.error());
  const auto stream = maker_->at_caller(std::move(*socket));
  if (!stream) return std::unexpected(stream.error());
  std::byte answer{};
  if (auto sent = tcp_send(**stream, {&kWord, 1}, Waiting::kSleep); !sent) return std::unexpected(sent.error());
  if (auto got = tcp_receive(**stream, {&answer, 1}, Waiting::kSleep); !got) return std::unexpected(got.error());
  const double taken = seconds_since(begin);
  maker_->remember(**stream);
  (*stream)->close_write();
  if (auto ended = tcp_receive_end(**stream); !ended) return std::unexpected(ended.error());
  return taken;
}

Outcome<void> RawAnswers::answer() {
  auto socket = tcp_accept(listener_);
  if (!socket) return std::unexpected(socket.error());
  const auto stream = maker_.at_listener(std::move(*socket));
  if (!stream) return std::unexpected(stream.error());
  std::byte word{};
  if (auto got = tcp_receive(**stream, {&word, 1}, Waiting::kSleep); !got) return got;
  if (auto sent = tcp_send(**stream, {&kWord, 1}, Waiting::kSleep); !sent) return sent;
  if (auto ended = tcp_receive_end(**stream); !ended) return ended;
  (*stream)->close_write();
  return {};
}

}  // namespace weft::tools::bench
