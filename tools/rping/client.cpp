// SPDX-License-Identifier: Apache-2.0
#include "tools/rping/client.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tools/cli/interruption.hpp"
#include "tools/cli/slow_notice.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/rping/session.hpp"
#include "tools/rping/tally.hpp"

namespace weft::tools::rping {
namespace {

constexpr std::uint32_t kDepth = 1;  // what the stock client offers for IRD and ORD

// Between the server's MPA Reply and our first message. Linux siw, as server, sends its Reply before it listens for
// what follows, and may leave a message that comes at once unread until the next one, which rping never sends.
constexpr auto kFirstMessageDelay = std::chrono::milliseconds(200);

// A buffer of ping text that the server may read and write.
struct PingBuffer {
  explicit PingBuffer(std::uint32_t size) : text(size) {}
  [[nodiscard]] MutableBytes octets() { return std::as_writable_bytes(std::span(text)); }
  [[nodiscard]] Advertisement advertisement() const {
    return {region->iova(), region->rkey(), static_cast<std::uint32_t>(text.size())};
  }
  Outcome<void> share(Link& link) {
    auto made = link.register_memory(
        octets(), verbs::Access::kLocalWrite | verbs::Access::kRemoteRead | verbs::Access::kRemoteWrite);
    if (!made) return std::unexpected(made.error());
    region.emplace(std::move(*made));
    return {};
  }

  std::vector<char> text;
  std::optional<verbs::MemoryRegion> region{};
};

class Client {
 public:
  Client(const Options& options, Session& session, Tally& tally)
      : options_(options), session_(session), tally_(tally), source_(options.size), sink_(options.size) {}

  Outcome<void> share_buffers() {
    if (auto shared = source_.share(session_.link()); !shared) return shared;
    return sink_.share(session_.link());
  }

  Outcome<void> ping(std::uint32_t number) {
    fill_ping_text(source_.text, number);
    if (auto answered = advertise(source_); !answered) return answered;
    if (auto answered = advertise(sink_); !answered) return answered;
    tally_.add_ping(source_.text.size());
    if (options_.validate && source_.text != sink_.text) {
      ++tally_.mismatches;
      return failure("ping " + std::to_string(number) + ": " + mismatch() + ".");
    }
    if (!options_.verbose) return {};
    return print_line("ping data: " + shown_text(sink_.text));
  }

 private:
  // Tells the server of a buffer and waits until it has used it.
  Outcome<void> advertise(const PingBuffer& buffer) {
    if (auto sent = session_.send(buffer.advertisement()); !sent) return sent;
    const auto go_ahead = session_.receive();
    if (!go_ahead) return std::unexpected(go_ahead.error());
    if (!*go_ahead) return failure("the server closed the connection in the middle of a ping.");
    options_.trace("server says go ahead");
    return {};
  }

  std::string mismatch() const {
    const auto at = std::mismatch(source_.text.begin(), source_.text.end(), sink_.text.begin()).first;
    return "data mismatch at octet " + std::to_string(at - source_.text.begin());
  }

  const Options& options_;
  Session& session_;
  Tally& tally_;
  PingBuffer source_;
  PingBuffer sink_;
};

// A server that is not there may be waited for long, and one that does not speak iWARP, too.
Outcome<void> connect(const Options& options, Link& link) {
  const SlowNotice notice("weft rping: waiting for an answer from " + options.address.to_string() + " (^C ends it).");
  const auto connected = link.connect({.ird = options.ird.value_or(kDepth), .ord = options.ord.value_or(kDepth)});
  if (!connected) return std::unexpected(connected.error());
  return {};
}

Outcome<void> ping_on(const Options& options, Session& session, Tally& tally) {
  Client client(options, session, tally);
  if (auto shared = client.share_buffers(); !shared) return shared;
  if (auto connected = connect(options, session.link()); !connected) return connected;
  options.trace("connected");
  const bool silent = options.count == 0 && !options.verbose;
  if (silent) say("pinging " + options.address.to_string() + " until ^C (-C N: that often)");
  Outcome<void> done{};
  for (std::uint32_t i = 0; done && !interrupted() && (options.count == 0 || i < options.count); ++i) {
    done = client.ping(i & 0x7fffffff);
  }
  const auto closed = session.link().disconnect();  // politely, also after a failure
  if (done && closed) std::fprintf(stderr, "client DISCONNECT EVENT...\n");
  say(tally_text(tally, options));
  return done ? closed : done;
}

Outcome<void> connect_and_ping(const Options& options, Tally& tally) {
  verbs::Policy policy = options.policy;
  policy.timeouts.first_fpdu_delay = kFirstMessageDelay;
  auto link = Link::towards(options.address, options.source, policy, {});
  if (!link) return std::unexpected(link.error());
  options.trace("address and route resolved");
  auto session = Session::create(std::move(*link));
  if (!session) return std::unexpected(session.error());
  return ping_on(options, **session, tally);
}

}  // namespace

Outcome<void> run_client(const Options& options) {
  if (auto caught = catch_interruptions(); !caught) return caught;
  Tally tally;
  return verdict(connect_and_ping(options, tally), tally);
}

}  // namespace weft::tools::rping
