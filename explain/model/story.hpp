// SPDX-License-Identifier: Apache-2.0
// One connection, while it is read: what the walk shows becomes rows, and FPDUs become messages.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "conformance/messages.hpp"
#include "conformance/walk.hpp"
#include "explain/model/model.hpp"
#include "explain/model/packet_heads.hpp"

namespace weft::explain {

/// How much a model may hold; the connections share it.
struct Budget {
  std::size_t rows = 20'000;                  ///< of all connections together
  std::size_t octets = std::size_t{4} << 20;  ///< of startup frames and FPDUs
  bool rows_cut = false;                      ///< there were more rows
  bool octets_cut = false;                    ///< of some rows only the front is there
};

/// Collects the rows of a connection.
class Story {
 public:
  static constexpr std::size_t kFront = 64;  ///< octets of a row that are kept in any case

  /// What is known around the connection while something of it is seen.
  struct Around {
    const PacketHeads& heads;                 ///< up to the packet of now
    const conformance::ConnectionInfo& info;  ///< its ends
    const conformance::Walk& walk;            ///< who shows it
    Glossary& glossary;                       ///< for the fields
    Budget& budget;                           ///< what is left
  };

  /// Takes what the walk shows, in its order.
  void take(const conformance::Seen& seen, const Around& around);
  /// Moves the rows and messages into `connection` and the packets that they name into `model`.
  void finish(Connection& connection, Model& model);

 private:
  void on(const conformance::StreamingSeen& streaming, const Around& around);
  void on(const conformance::StartupSeen& startup, const Around& around);
  void on(const conformance::FpduSeen& fpdu, const Around& around);
  void on(const conformance::LostSeen& lost, const Around& around);
  void on(const conformance::ResumedSeen& resumed, const Around& around);
  void on(const conformance::EndSeen& end, const Around& around);
  void on(const conformance::CaptureOver& over, const Around& around);
  void on(const conformance::SegmentSeen&, const Around&) noexcept {}

  Row* add(Row row, std::uint64_t first_packet, const Around& around);
  Row* add_piece(RowKind kind, const conformance::Piece& piece, std::string words, const Around& around);
  void open(const Around& around);
  void keep_head(const RawHead* head);
  void break_off(Direction from);
  void gather();
  void gather(const conformance::Message& message);

  std::vector<Row> rows_{};
  std::vector<std::uint64_t> first_packets_{};  // of each row: the packet with its first octet
  std::vector<MessageView> messages_{};
  Settled settled_{};
  std::array<std::vector<std::size_t>, 2> ungathered_{};  // rows of messages that have not ended, by direction
  conformance::MessageJoiner joiner_{};
  std::map<std::uint64_t, RawHead> heads_{};  // of the packets that rows name
  std::uint64_t reset_ = 0;                   // the packet, told of both directions
  bool opened_ = false;
};

}  // namespace weft::explain
