// SPDX-License-Identifier: Apache-2.0
#include "tools/rping/echo.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tools/cli/interruption.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/rping/session.hpp"

namespace weft::tools::rping {
namespace {

constexpr std::uint32_t kBufferSize = 65536;  // room for any client's ping, whatever -S says here

class Echo {
 public:
  Echo(const Options& options, Session& session, Tally& tally)
      : options_(options), session_(session), tally_(tally), text_(kBufferSize) {}

  Outcome<void> register_buffer() {
    auto region = session_.link().register_memory(std::as_writable_bytes(std::span(text_)), verbs::Access::kLocalWrite);
    if (!region) return std::unexpected(region.error());
    region_.emplace(std::move(*region));
    return {};
  }

  // One ping after the other; returns when the client leaves between two of them, or when the process is to end.
  Outcome<void> run() {
    for (std::uint32_t number = 0; !interrupted(); ++number) {
      const auto source = session_.receive(std::chrono::milliseconds(0));
      if (!source && source.error().code == ExitCode::kInterrupted) return {};
      if (!source) return std::unexpected(source.error());
      if (!*source) return {};
      options_.trace("server received source adv");
      if (auto done = fetch(**source, number & 0x7fffffff); !done) return done;
      const auto sink = session_.receive();
      if (!sink) return std::unexpected(sink.error());
      if (!*sink) return left_early();
      options_.trace("server received sink adv");
      if (auto done = give_back(**sink); !done) return done;
      tally_.add_ping(length_);
    }
    return {};
  }

 private:
  // Reads the client's text and tells it to go ahead.
  Outcome<void> fetch(const Advertisement& source, std::uint32_t number) {
    if (source.size == 0 || source.size > text_.size()) {
      return failure("the client advertises " + std::to_string(source.size) + " octets; this server takes 1 to " +
                     std::to_string(text_.size()) + ".");
    }
    const auto progress = session_.rdma_read(source, region_->sge(0, source.size));
    if (!progress) return std::unexpected(progress.error());
    if (*progress == Progress::kPeerLeft) return left_early();
    length_ = source.size;
    if (auto good = look_at_text(number); !good) return good;
    return session_.send({});  // content: none, it only means "go ahead"
  }

  Outcome<void> look_at_text(std::uint32_t number) const {
    const std::span<const char> got = std::span(text_).first(length_);
    if (options_.verbose) {
      if (auto printed = print_line("server ping data: " + shown_text(got)); !printed) return printed;
    }
    if (!options_.validate || length_ < kMinSize) return {};
    std::vector<char> expected(length_);
    fill_ping_text(expected, number);
    if (std::ranges::equal(expected, got)) return {};
    ++tally_.mismatches;
    return failure("ping " + std::to_string(number) + ": the text is not what the client should send.");
  }

  // Writes the text back, as far as its NUL, and tells the client to begin again.
  Outcome<void> give_back(const Advertisement& sink) {
    const std::size_t text = text_in(std::span<const char>(text_).first(length_)).size();
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(text + 1, length_));
    if (length > sink.size) {
      return failure("the client's sink has " + std::to_string(sink.size) + " octets for an echo of " +
                     std::to_string(length) + ".");
    }
    const auto progress = session_.rdma_write(sink, region_->sge(0, length));
    if (!progress) return std::unexpected(progress.error());
    if (*progress == Progress::kPeerLeft) return left_early();
    return session_.send({});
  }

  static Outcome<void> left_early() { return failure("the client closed the connection in the middle of a ping."); }

  const Options& options_;
  Session& session_;
  Tally& tally_;
  std::vector<char> text_;
  std::optional<verbs::MemoryRegion> region_{};
  std::uint32_t length_ = 0;  // octets of the last text read
};

}  // namespace

Outcome<void> serve_client(const Options& options, verbs::ConnectionId request, Tally& tally) {
  auto link = Link::for_request(std::move(request), {});
  if (!link) return std::unexpected(link.error());
  auto session = Session::create(std::move(*link));
  if (!session) return std::unexpected(session.error());
  Echo echo(options, **session, tally);
  if (auto registered = echo.register_buffer(); !registered) return registered;
  options.trace("accepting client connection request");
  if (auto accepted = (*session)->accept({.ird = options.ird, .ord = options.ord}); !accepted) return accepted;
  ++tally.clients;
  if (auto served = echo.run(); !served) return served;
  auto closed = (*session)->link().disconnect();
  if (!closed && interrupted()) return {};  // a client that does not close in time is left
  if (closed) std::fprintf(stderr, "server DISCONNECT EVENT...\n");
  return closed;
}

}  // namespace weft::tools::rping
