// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/tcp_endpoint.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "tools/bench/patience.hpp"
#include "tools/cli/pattern.hpp"

namespace weft::tools::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

TcpEndpoint::TcpEndpoint(std::unique_ptr<RawStream> stream, const Options& options)
    : stream_(std::move(stream)),
      options_(options),
      message_(options.size),
      received_(options.size),
      staging_(kStagingSize),
      request_(kRequestSize) {}

Outcome<void> TcpEndpoint::prepare(Waiting waiting) {
  waiting_ = waiting;
  return {};
}

Outcome<RunResult> TcpEndpoint::lead(std::uint64_t messages) {
  RunResult result;
  const Clock::time_point begin = Clock::now();
  if (options_.kind == Kind::kLatency) {
    result.latency_us.reserve(messages);
    const double share = options_.op == Op::kRead ? 1.0 : 0.5;
    for (std::uint64_t i = 0; i < messages; ++i) {
      const Clock::time_point start = Clock::now();
      if (auto done = lead_one(); !done) return std::unexpected(done.error());
      result.latency_us.push_back(seconds_since(start) * 1e6 * share);
    }
  } else {
    const auto done = options_.op == Op::kRead ? lead_read_stream(messages) : lead_stream(messages);
    if (!done) return std::unexpected(done.error());
  }
  result.seconds = seconds_since(begin);
  return result;
}

// The message there and one of the same size back; or a request there and the data back.
Outcome<void> TcpEndpoint::lead_one() {
  const auto sent = tcp_send(*stream_, options_.op == Op::kRead ? request_ : message_, waiting_);
  if (!sent) return sent;
  return tcp_receive(*stream_, received_, waiting_);
}

Outcome<void> TcpEndpoint::lead_stream(std::uint64_t messages) {
  const std::uint32_t list = list_length(options_);
  for (std::uint64_t left = messages; left > 0;) {
    const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, list));
    if (auto sent = tcp_send_list(*stream_, message_, now, waiting_); !sent) return sent;
    left -= now;
  }
  std::byte word{};
  return tcp_receive(*stream_, {&word, 1}, waiting_);
}

Outcome<void> TcpEndpoint::lead_read_stream(std::uint64_t messages) {
  const std::uint32_t depth = effective_depth(options_);
  const std::uint32_t list = list_length(options_);
  std::uint64_t asked = 0;
  std::uint64_t octets = 0;
  while (octets < messages * options_.size) {
    const std::uint64_t answered = octets / options_.size;
    while (asked < messages && asked + list <= answered + depth) {
      const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(messages - asked, list));
      if (auto sent = tcp_send_list(*stream_, request_, now, waiting_); !sent) return sent;
      asked += now;
    }
    const auto got = tcp_receive_some(*stream_, staging_, waiting_);
    if (!got) return std::unexpected(got.error());
    octets += *got;
  }
  return {};
}

Outcome<void> TcpEndpoint::follow(std::uint64_t messages) {
  if (options_.kind == Kind::kLatency) return follow_latency(messages);
  return options_.op == Op::kRead ? follow_read_stream(messages) : follow_stream(messages);
}

Outcome<void> TcpEndpoint::follow_latency(std::uint64_t messages) {
  const MutableBytes awaited = options_.op == Op::kRead ? request_ : received_;
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (auto got = tcp_receive(*stream_, awaited, waiting_); !got) return got;
    if (auto sent = tcp_send(*stream_, message_, waiting_); !sent) return sent;
  }
  return {};
}

Outcome<void> TcpEndpoint::follow_stream(std::uint64_t messages) {
  if (auto got = receive_stream(messages * options_.size); !got) return got;
  return tcp_send(*stream_, Bytes(message_).first(1), waiting_);
}

Outcome<void> TcpEndpoint::receive_stream(std::uint64_t octets) {
  while (octets > 0) {
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(octets, staging_.size()));
    const auto got = tcp_receive_some(*stream_, MutableBytes(staging_).first(room), waiting_);
    if (!got) return std::unexpected(got.error());
    octets -= *got;
  }
  return {};
}

// Answers all the requests that one read brought with one sendmsg.
Outcome<void> TcpEndpoint::follow_read_stream(std::uint64_t messages) {
  std::uint64_t octets = 0;
  std::uint64_t answered = 0;
  while (answered < messages) {
    const auto got = tcp_receive_some(*stream_, staging_, waiting_);
    if (!got) return std::unexpected(got.error());
    octets += *got;
    const std::uint64_t asked = octets / kRequestSize;
    if (asked == answered) continue;
    if (auto sent = tcp_send_list(*stream_, message_, static_cast<std::uint32_t>(asked - answered), waiting_); !sent)
      return sent;
    answered = asked;
  }
  return {};
}

Outcome<void> TcpEndpoint::lead_check(std::uint8_t seed) {
  if (options_.op != Op::kRead) {
    fill_pattern(message_, seed);
    return tcp_send(*stream_, message_, waiting_);
  }
  if (auto sent = tcp_send(*stream_, request_, waiting_); !sent) return sent;
  if (auto got = tcp_receive(*stream_, received_, waiting_); !got) return got;
  if (const auto at = first_difference(received_, seed))
    return failure("raw TCP: wrong data at octet " + std::to_string(*at) + ".");
  return {};
}

Outcome<void> TcpEndpoint::follow_check(std::uint8_t seed) {
  if (options_.op == Op::kRead) {
    fill_pattern(message_, seed);
    if (auto got = tcp_receive(*stream_, request_, waiting_); !got) return got;
    return tcp_send(*stream_, message_, waiting_);
  }
  if (auto got = tcp_receive(*stream_, received_, waiting_); !got) return got;
  if (const auto at = first_difference(received_, seed))
    return failure("raw TCP: wrong data at octet " + std::to_string(*at) + ".");
  return {};
}

}  // namespace weft::tools::bench
