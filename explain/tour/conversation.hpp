// SPDX-License-Identifier: Apache-2.0
// Two engines and the wire between them, with a clock that only this moves.
#pragma once

#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "explain/tour/wire.hpp"
#include "rdmap/region_table.hpp"

namespace weft::explain {

/// A connection of the tour.
class Conversation {
 public:
  Conversation(const engine::Config& initiator, const engine::Config& responder, TourWire::Take take);

  /// TCP's handshake and MPA's startup frames.
  void open(std::string_view request, std::string_view reply);
  /// Posts work, and lets everything happen that comes of it.
  void post(TourEnd end, const engine::WorkRequest& request);
  /// Closes what is open still.
  void close();

  /// An end's memory.
  [[nodiscard]] rdmap::RegionTable& memory(TourEnd end) noexcept { return side(end).memory; }

 private:
  struct Side {
    Side(TourEnd which, const engine::Config& config) : end(which), engine(config, memory, {}) {}

    TourEnd end;
    rdmap::RegionTable memory{};
    engine::Engine engine;
    engine::TransmitBatch batch{TourWire::kMss};  // so each batch is a packet
    std::vector<std::byte> unread{};
    bool finished = false;  // has sent its FIN
    bool request = false;   // an MPA Request waits for its answer
  };

  [[nodiscard]] Side& side(TourEnd end) noexcept { return end == TourEnd::kInitiator ? initiator_ : responder_; }
  void run();
  bool step(Side& from, Side& to);
  bool transmit(Side& from, Side& to);
  bool shut_down(Side& from, Side& to);
  static bool receive(Side& to);
  static void poll(Side& side);

  Side initiator_;
  Side responder_;
  TourWire wire_;
};

}  // namespace weft::explain
