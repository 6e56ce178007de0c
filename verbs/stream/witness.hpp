// SPDX-License-Identifier: Apache-2.0
// What looks on at a connection and changes nothing: the packet capture, the protocol log, and the watch for stalls.
// The base class is the null object: a connection that none of them looks on at calls functions that do nothing.
// Serialized by the lock of the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "common/instant.hpp"
#include "engine/event.hpp"
#include "mpa/policy.hpp"
#include "transport/pcap_tap.hpp"
#include "transport/peer_identity.hpp"
#include "transport/pipe.hpp"
#include "verbs/policy.hpp"

namespace weft::verbs::detail {

class StallWatch;

class Witness {
 public:
  struct Setup {
    std::optional<transport::PcapStream> capture{};
    std::uint64_t connection{};  // its identifier's number, for the log
    mpa::Role role{};
    PcapShows shows{};
    Duration report_stalls_after{};  // 0: never
  };
  struct Delete {  // but the null object
    void operator()(Witness* witness) const noexcept;
  };
  using Pointer = std::unique_ptr<Witness, Delete>;
  // Creates a witness of the connection through `pipe`, which outlives it. Returns the null object if nothing observes
  // the connection.
  [[nodiscard]] static Pointer make(Setup setup, transport::Pipe& pipe);
  [[nodiscard]] static Pointer none();
  Witness() = default;
  virtual ~Witness() = default;
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  // --- What it needs
  // All octets as they come, in one piece: none are read straight to their place.
  [[nodiscard]] virtual bool sees_octets() const noexcept { return false; }
  [[nodiscard]] virtual bool captures() const noexcept { return false; }
  // Looked at after each change, and at its deadline; null: nobody wants to hear of stalls.
  [[nodiscard]] virtual StallWatch* stalls() noexcept { return nullptr; }

  // --- Octets
  virtual void received(Bytes /*octets*/) {}
  virtual void understood(std::size_t /*octets*/) {}  // of those received: they are whole frames
  virtual void rest_understood() {}                   // all that were received: no more belong to them
  virtual void sent(std::span<const Bytes> /*pieces*/) {}

  // --- The ends of the TCP connection
  virtual void fin_received() {}
  virtual void fin_sent() {}
  virtual void lost(std::string_view /*how*/) {}  // the first time: a socket that is gone says so at each call
  virtual void rst_received() {}
  // The socket is closed, or reset. A FIN that was reported counts once.
  virtual void finished(bool /*reset*/) {}

  // --- Events
  virtual void on(const transport::PeerIdentity& /*peer*/) {}
  virtual void on(const engine::Established& /*event*/) {}
  virtual void on(const engine::ProtocolError& /*event*/) {}
  virtual void on(const engine::TerminateReceived& /*event*/) {}
  virtual void on(const engine::StartupFailed& /*event*/) {}
  virtual void closed(std::string_view /*how*/) {}
  virtual void say(std::string_view /*what*/) {}
};

}  // namespace weft::verbs::detail
