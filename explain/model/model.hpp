// SPDX-License-Identifier: Apache-2.0
// What a capture shows, so that it can be explained: of each iWARP connection its rows from SYN to FIN, every field of
// every octet, where payload lands, and what was broken. docs/explain.md has the same as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/finding.hpp"
#include "conformance/seen.hpp"
#include "explain/model/glossary.hpp"
#include "explain/model/memory.hpp"
#include "explain/model/script.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::explain {

using conformance::Direction;

/// The headers of a packet in front of TCP's payload.
struct PacketHead {
  std::uint64_t number{};           ///< as Wireshark numbers frames
  std::int64_t time{};              ///< nanoseconds since the capture's first packet
  std::vector<std::byte> octets{};  ///< link layer, IP and TCP
  std::vector<FieldAt> fields{};    ///< empty where the headers make no sense
};

/// The padding of an FPDU and its arithmetic.
struct Pad {
  std::size_t octets{};  ///< 0 to 3
  std::string words{};   ///< "2 + 19 = 21, 21 mod 4 = 1: 3 octets of padding"
};

/// The CRC of an FPDU and what it was computed over.
struct Crc {
  std::uint32_t field{};              ///< what the FPDU says
  std::uint32_t computed{};           ///< what its octets give
  conformance::CrcVerdict verdict{};  ///< which of them agree
  std::string words{};                ///< what the computation took in; empty where CRCs are not in use
};

/// A Marker, which interrupts an FPDU.
struct MarkerAt {
  std::size_t at{};         ///< in the row's octets
  std::uint16_t pointer{};  ///< FPDUPTR
  std::string points_at{};  ///< in words
};

/// A startup frame or FPDU as it was on the wire.
struct Wire {
  std::size_t size{};               ///< octets of it, Markers included
  std::vector<std::byte> octets{};  ///< fewer than `size` where the model would have grown too large
  std::uint64_t stream_offset{};    ///< of its first octet, in its direction of the TCP connection
  std::uint64_t number{};           ///< of an FPDU in its direction, from 1; 0 for a startup frame
  std::vector<FieldAt> fields{};    ///< as conformance::dissect() has them
  std::vector<MarkerAt> markers{};  ///< those inside
  std::optional<Pad> pad{};         ///< of an FPDU
  std::optional<Crc> crc{};         ///< of an FPDU
};

/// What an FPDU says to DDP and RDMAP.
struct Segment {
  ddp::Header header{};                                          ///< tagged or untagged
  std::uint8_t opcode{};                                         ///< RDMAP's, four bits
  std::uint64_t payload{};                                       ///< octets after the DDP header
  std::array<std::byte, ddp::UntaggedLayout::kSize> quotable{};  ///< the header's octets, as a Terminate quotes them

  /// The last one of its message.
  [[nodiscard]] bool last() const noexcept {
    return std::visit([](const auto& one) { return one.last; }, header);
  }
  /// Returns the header of a tagged segment, otherwise null.
  [[nodiscard]] const ddp::TaggedHeader* tagged() const noexcept { return std::get_if<ddp::TaggedHeader>(&header); }
  /// Returns the header of an untagged segment, otherwise null.
  [[nodiscard]] const ddp::UntaggedHeader* untagged() const noexcept {
    return std::get_if<ddp::UntaggedHeader>(&header);
  }
};

/// What a row does at the end that receives it.
struct Effect {
  std::optional<Placed> placed{};        ///< where its payload lands; absent: nowhere
  std::optional<Touched> touched{};      ///< the region that it reads, changes or invalidates
  std::optional<std::size_t> taken{};    ///< the receive that Immediate Data takes: nothing lands in it
  std::optional<std::size_t> refused{};  ///< the row of the Terminate that answered it
  std::optional<std::size_t> before{};   ///< that end's state, an index into Connection::states
  std::optional<std::size_t> after{};    ///< the same, after it
};

/// What kind of thing a row shows.
enum class RowKind : std::uint8_t {
  kTcp,      ///< SYN, FIN or RST
  kStartup,  ///< an MPA startup frame
  kFpdu,     ///< an FPDU
  kGap,      ///< octets that are missing, that are no FPDU, or that came before MPA
};
/// "tcp", "startup", "fpdu", "gap".
[[nodiscard]] std::string_view name(RowKind kind) noexcept;

/// One line of the ladder.
struct Row {
  RowKind kind{};                        ///< decides which of the parts below have a meaning
  Direction from{};                      ///< who sent it
  std::int64_t time{};                   ///< nanoseconds since the capture's first packet
  std::uint64_t packet{};                ///< in which it was complete
  std::string words{};                   ///< what it is
  std::optional<std::size_t> head{};     ///< of the packet with its first octet: an index into Model::packets
  Wire wire{};                           ///< startup frames and FPDUs
  std::optional<Segment> segment{};      ///< FPDUs that MPA delivers and that have a DDP header
  std::optional<std::size_t> message{};  ///< an index into Connection::messages
  Effect effect{};                       ///< at the receiving end
  std::vector<std::size_t> findings{};   ///< indices into Connection::findings
};

/// An RDMAP message: one or several rows.
struct MessageView {
  Direction from{};                      ///< who sent it
  std::string what{};                    ///< its name in the RFC
  std::uint8_t opcode{};                 ///< four bits
  std::uint64_t octets{};                ///< of payload after the DDP headers
  std::vector<std::byte> front{};        ///< of an untagged one's payload; at most as long as RDMAP's longest header
  std::vector<std::size_t> rows{};       ///< indices into Connection::rows, in order
  std::optional<std::size_t> answers{};  ///< the message that this one answers
  bool rtr{};                            ///< the ready-to-receive indication of a peer-to-peer connection
};

/// One end between two rows.
struct EndState {
  std::array<std::uint32_t, 4> msn{1, 1, 1, 1};  ///< expected next, by queue
  std::array<std::uint32_t, 4> mo{};             ///< expected next, by queue
  std::uint32_t ird{};                           ///< the peer's requests that this end has not answered
  std::uint32_t ord{};                           ///< its own that the peer has not answered
  std::string_view state = "startup";            ///< in words; static storage
  bool operator==(const EndState&) const = default;
};

/// What the auditor found, and the row that it is about.
struct FindingView {
  conformance::Finding finding{};    ///< as the auditor has it
  std::optional<std::size_t> row{};  ///< an index into Connection::rows
  std::size_t at{};                  ///< in that row's octets, where `size` is not 0
  std::size_t size{};                ///< wrong octets that are known
};

/// What a startup frame said.
struct StartupView {
  mpa::StartupFrame frame{};              ///< its private data is empty: the next member has it
  std::vector<std::byte> private_data{};  ///< the ULP's
};

/// What both ends' startup frames settled.
struct Settled {
  std::array<std::optional<StartupView>, 2> frames{};  ///< by direction, as far as they were seen and good
  bool crc{};                                          ///< FPDUs have CRCs
  std::array<bool, 2> markers{};                       ///< what this direction carries has Markers

  /// The startup frame that an end sent.
  [[nodiscard]] const std::optional<StartupView>& frame(Direction from) const noexcept {
    return frames[static_cast<std::size_t>(from)];
  }
};

/// One iWARP connection.
struct Connection {
  std::size_t id{};                                      ///< as `weft audit` numbers them
  std::string initiator{};                               ///< address and port
  std::string responder{};                               ///< address and port
  bool roles_known{};                                    ///< a startup frame told who is the Initiator
  Settled settled{};                                     ///< by the startup frames
  std::vector<Row> rows{};                               ///< in the order of the capture
  std::vector<MessageView> messages{};                   ///< in the order in which they ended
  std::vector<EndState> states{};                        ///< what rows refer to
  std::array<EndMemory, 2> memory{};                     ///< of the Initiator, of the Responder
  std::vector<FindingView> findings{};                   ///< in the order of the capture
  std::array<std::optional<LaboratoryScript>, 2> lab{};  ///< for the Initiator, for the Responder
};

/// A capture, explained.
struct Model {
  std::string source{};                   ///< the capture's name
  std::vector<std::string> notes{};       ///< what could not be read, in sentences
  Glossary glossary{};                    ///< names, values and meanings of fields
  std::vector<PacketHead> packets{};      ///< those that rows refer to
  std::vector<Connection> connections{};  ///< those that speak iWARP, in the order of their numbers
};

/// An end as an index: the Initiator is 0.
[[nodiscard]] constexpr std::size_t index_of(Direction from) noexcept { return static_cast<std::size_t>(from); }
/// "initiator" or "responder".
[[nodiscard]] std::string_view name(Direction from) noexcept;

}  // namespace weft::explain
