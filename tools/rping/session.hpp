// SPDX-License-Identifier: Apache-2.0
// What both ends of an rping connection do: exchange advertisements and move the ping buffer.
//
// From the server the same message means "go ahead"; its content is then of no interest.
//
//   client                                   server
//     | -- Send: where the ping text lies --> |
//     | <------------ RDMA Read ------------- |
//     | <---------- Send: go ahead ---------- |
//     | -- Send: where the echo may go -----> |
//     | <------------ RDMA Write ------------ |
//     | <---------- Send: go ahead ---------- |   and again, as often as -C says
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "tools/link/advertisement.hpp"
#include "tools/link/link.hpp"

namespace weft::tools::rping {

// The peer may leave at any moment, and at the right one that is how a test ends: not a failure, but nothing to go on
// with.
enum class Progress : std::uint8_t { kDone, kPeerLeft };

class Session {
 public:
  // Registers the receive buffer and posts it: call before Link::connect or Link::accept.
  static Outcome<std::unique_ptr<Session>> create(Link link);

  [[nodiscard]] Link& link() noexcept { return link_; }

  // The server's accept. A ready-to-receive indication that is a Send takes up a receive, and is not a message of
  // rping's.
  Outcome<void> accept(const verbs::ConnectionParameters& parameters);

  Outcome<void> send(const Advertisement& advertisement);
  // The peer's next message; empty when it left. `grace`: Completions::next().
  Outcome<std::optional<Advertisement>> receive(std::chrono::milliseconds grace = kGrace);
  // Reads the peer's buffer into `sink`, or writes `source` into it, and waits for the end of that.
  Outcome<Progress> rdma_read(const Advertisement& from, const verbs::Sge& sink);
  Outcome<Progress> rdma_write(const Advertisement& to, const verbs::Sge& source);

 private:
  explicit Session(Link link) : link_(std::move(link)) {}
  Outcome<Progress> wait_for(verbs::WcOpcode opcode, std::chrono::milliseconds grace = kGrace);
  Outcome<void> take_message(const verbs::WorkCompletion& completion);
  Outcome<void> post_receive();
  Outcome<Progress> carry_out(verbs::SendOpcode opcode, verbs::WcOpcode completes_as, const Advertisement& remote,
                              const verbs::Sge& local);

  std::array<std::byte, kAdvertisementSize> incoming_{};  // declared before the link: memory outlives its registration
  Link link_;
  std::optional<verbs::MemoryRegion> incoming_region_{};
  std::optional<Advertisement> message_{};  // arrived and not yet asked for
  bool rtr_expected_ = false;
};

}  // namespace weft::tools::rping
