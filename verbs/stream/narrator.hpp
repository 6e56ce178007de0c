// SPDX-License-Identifier: Apache-2.0
// The protocol log of one connection. At level info: its startup, the negotiated parameters, how it ended and how much
// it moved. At level debug also each FPDU: an observer of the engine reads the passing octets. Only headers and sizes,
// no payload and no private data. Above level info there is no narrator, and a stream pays one comparison.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/event.hpp"
#include "engine/observer.hpp"
#include "mpa/policy.hpp"
#include "transport/peer_identity.hpp"
#include "transport/socket.hpp"

namespace weft::verbs::detail {

class Narrator {
 public:
  // Creates a narrator; returns null if the log would not show its lines. `connection` is the number of the connection
  // identifier.
  [[nodiscard]] static std::unique_ptr<Narrator> make(std::uint64_t connection, const transport::Socket& socket,
                                                      mpa::Role role);
  Narrator(std::uint64_t connection, mpa::Role role, bool each_fpdu);

  void sent(std::span<const Bytes> pieces);  // offered to the socket
  void received(Bytes octets);               // as they came, before they are rearranged

  void on(const transport::PeerIdentity& peer) const;
  void on(const engine::Established& event) const;
  void on(const engine::ProtocolError& event) const;
  void on(const engine::TerminateReceived& event) const;
  void on(const engine::StartupFailed& event) const;
  void lost(std::string_view how);  // the first time: a socket that is gone says so at each call
  void closed(std::string_view how) const;
  void say(std::string_view what) const;

 private:
  struct Side {
    std::uint64_t octets = 0;
    std::uint64_t fpdus = 0;  // counted where each is read
    bool read = true;         // by the observer, which keeps what it cannot understand
  };

  [[nodiscard]] bool ours(engine::Direction from) const noexcept { return from == outbound_; }
  [[nodiscard]] Side& side(engine::Direction from) noexcept { return ours(from) ? sent_ : received_; }
  void feed(engine::Direction from, Bytes octets);
  void look();
  void tell(const engine::StartupSeen& seen);
  void tell(const engine::SegmentSeen& seen);
  void tell(const engine::FaultSeen& seen);
  void tell(const engine::EndSeen&) {}

  const std::uint64_t connection_;
  const engine::Direction outbound_;
  const bool each_fpdu_;
  engine::AcceptEverything nowhere_{};
  engine::Observer observer_{nowhere_, nowhere_};
  int frames_ = 0;     // of the startup, that were seen
  bool lost_ = false;  // and this was logged
  Side sent_{};
  Side received_{};
};

}  // namespace weft::verbs::detail
