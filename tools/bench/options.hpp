// SPDX-License-Identifier: Apache-2.0
// What `weft bench` was asked to measure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::tools::bench {

enum class Kind : std::uint8_t { kLatency, kBandwidth, kRate, kSetup };
enum class Op : std::uint8_t { kSend, kWrite, kRead };
// Whose pattern of posting, waiting and timing weft follows: our own, or that of perftest's ib_write_lat and
// ib_write_bw (tools/bench/perftest_endpoint.hpp).
enum class Pattern : std::uint8_t { kOwn, kPerftest };

// How both ends of weft wait: they spin in poll; they sleep in weft's own wait call; or the application sleeps itself,
// in poll(2) on the completion channel's descriptor.
enum class Blocking : std::uint8_t { kPoll, kWait, kChannel };

// Which process sets connections up: the leader's again and again, or a new one each time, which reads its files anew
// and knows nothing of connections before.
enum class Caller : std::uint8_t { kSame, kFresh };

// Whom weft takes turns with. `plain` is weft itself without TLS, `openssl` raw TCP with OpenSSL.
struct Against {
  bool tcp = true;
  bool plain = false;
  bool openssl = false;
  bool ucx = false;
  bool libfabric = false;
};

// How weft's messages are posted.
struct Posting {
  std::uint32_t signal_every = 0;             // messages to a reported completion; 0: a good value for kind and pattern
  std::optional<std::uint32_t> max_inline{};  // longer messages are not posted inline; default: for the pattern
};

// Weft's policy; it wins over the rest.
struct PolicyText {
  std::string text{};   // as --policy has it
  std::string files{};  // what follows it: keys of this run
};

struct Segments {
  std::uint32_t mtu = 0;   // largest ULPDU; 0: what the connection's segment size gives
  std::uint32_t emss = 0;  // TCP's segment size for both transports; 0: the path's
};

struct Output {
  bool count = false;  // instead of figures: system calls and heap allocations of a message
  std::string json{};  // file for the report; -: standard output; empty: only text
};

struct Options {
  Kind kind{};
  Op op = Op::kSend;
  std::uint32_t size = 8;         // octets of one message
  std::uint64_t iterations = 0;   // per repetition; 0: as many as fit into the duration
  double duration = 2.0;          // seconds for all repetitions together
  std::uint32_t repetitions = 7;  // of each transport, taken in turns
  std::uint32_t depth = 0;        // messages under way at a time; 0: a good value for the kind
  Posting posting{};
  std::uint32_t connections = 1;  // between the two processes; the figure is that of all together
  Segments segments{};
  Pattern pattern = Pattern::kOwn;
  Blocking blocking = Blocking::kPoll;  // latency only
  Caller caller = Caller::kSame;        // set-ups only
  bool idle_target = false;             // latency of reads: the application that is read from sleeps outside of weft
  bool pinned = false;                  // each process, with all of its threads, on a processor of its own
  bool crc = true;
  bool markers = false;
  PolicyText policy{};
  Against against{};
  Output output{};
};

// Both ends work with a concrete depth.
[[nodiscard]] constexpr std::uint32_t effective_depth(const Options& options) noexcept {
  if (options.kind == Kind::kLatency) return 1;
  if (options.depth != 0) return options.depth;
  if (options.pattern == Pattern::kPerftest) return 128;  // its -t
  return options.kind == Kind::kRate ? 64 : 16;
}

// Messages handed over in one call: a posted list, or one sendmsg.
[[nodiscard]] constexpr std::uint32_t list_length(const Options& options) noexcept {
  if (options.kind != Kind::kRate) return 1;
  const std::uint32_t half = effective_depth(options) / 2;  // post one half while the other is under way
  return half == 0 ? 1 : half;
}

// Messages posted for each whose completion is reported; fewer completions cost less.
[[nodiscard]] constexpr std::uint32_t signal_interval(const Options& options) noexcept {
  const bool perftest = options.pattern == Pattern::kPerftest;
  if (options.kind == Kind::kLatency) return perftest ? 1 : 16;  // a ping waits for the pong, not for its completion
  const std::uint32_t depth = effective_depth(options);
  const std::uint32_t usual = perftest ? 100 : std::max(list_length(options), depth / 4);  // its -Q
  return std::min(options.posting.signal_every != 0 ? options.posting.signal_every : usual, depth);
}

// Messages are dealt out evenly: a run has a multiple of this.
[[nodiscard]] constexpr std::uint64_t dealt(const Options& options, std::uint64_t messages) noexcept {
  return (messages + options.connections - 1) / options.connections * options.connections;
}

// Returns whether an end of weft sleeps: raw TCP then does, too.
[[nodiscard]] constexpr bool sleeps(const Options& options) noexcept {
  return options.blocking != Blocking::kPoll || options.idle_target;
}

// A sleeper is not woken by octets in its memory: the message is then an RDMA Write with Immediate Data.
[[nodiscard]] constexpr bool writes_notify(const Options& options) noexcept {
  return options.op == Op::kWrite && options.blocking != Blocking::kPoll;
}

// Returns whether each message completes a receive of the peer's.
[[nodiscard]] constexpr bool completes_receives(const Options& options) noexcept {
  return options.op == Op::kSend || writes_notify(options);
}

// Raw TCP does the same as our own pattern, and nothing like perftest's.
[[nodiscard]] constexpr bool with_tcp(const Options& options) noexcept {
  return options.pattern == Pattern::kOwn && options.against.tcp;
}

[[nodiscard]] constexpr std::string_view name(Pattern pattern) noexcept {
  return pattern == Pattern::kOwn ? "own" : "perftest";
}

[[nodiscard]] constexpr std::string_view name(Blocking blocking) noexcept {
  switch (blocking) {
    case Blocking::kPoll: return "poll";
    case Blocking::kWait: return "wait";
    case Blocking::kChannel: return "channel";
  }
  return "?";
}

[[nodiscard]] constexpr std::string_view name(Kind kind) noexcept {
  switch (kind) {
    case Kind::kLatency: return "lat";
    case Kind::kBandwidth: return "bw";
    case Kind::kRate: return "rate";
    case Kind::kSetup: return "setup";
  }
  return "?";
}

[[nodiscard]] constexpr std::string_view name(Op op) noexcept {
  switch (op) {
    case Op::kSend: return "send";
    case Op::kWrite: return "write";
    case Op::kRead: return "read";
  }
  return "?";
}

[[nodiscard]] constexpr std::string_view unit(Kind kind) noexcept {
  switch (kind) {
    case Kind::kLatency: return "us";
    case Kind::kBandwidth: return "MB/s";
    case Kind::kRate: return "msg/s";
    case Kind::kSetup: return "conn/s";
  }
  return "?";
}

[[nodiscard]] constexpr bool lower_is_better(Kind kind) noexcept { return kind == Kind::kLatency; }

}  // namespace weft::tools::bench
