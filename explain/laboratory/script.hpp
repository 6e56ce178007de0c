// SPDX-License-Identifier: Apache-2.0
// A script: what one end of a connection is and has, so that the laboratory can play it against octets of the other
// end. It comes as lines of text; laboratory.js writes them from the page's model, and this is their only description.
// Words of a line are separated by one blank, numbers are decimal or begin with 0x, octets are hexadecimal digits.
//
//   role initiator|responder            must be there; all other lines may be left out
//   revision 1|2                        of MPA: what an initiator asks, the highest that a responder accepts
//   crc 0|1                             the C bit of this end's startup frame
//   markers 0|1                         its M bit: Markers are wanted in what arrives here
//   enhanced 0|1                        its S bit: revision 2 has enhanced data
//   peer_to_peer 0|1                    its A bit
//   rtr TYPE ...                        send, write, read: ready-to-receive indications that this end offers or takes
//   ird N                               at most 16383, which is "not negotiated"
//   ord N
//   private_data OCTETS
//   reject 0|1                          the responder's user says no
//   no_receive stall|terminate          when a Send finds no receive
//   emss N                              octets of TCP payload in a segment
//   first_atomic_id N                   Request Identifier of this end's first atomic
//   region STAG BEGIN SIZE RIGHTS [OCTETS]    RIGHTS: letters of r, w and a (remote read, write, atomic), or -
//   receive SIZE                        a receive of queue 0; they are posted in the order of the lines
//   post ROW WORK SINK_STAG SINK_TO SOURCE_STAG SOURCE_TO SIZE [DATA MASK COMPARE COMPARE_MASK]
//                                       local work, posted when the octets of that row or a later one are fed; rows
//                                       rise. WORK: read, fetch_add, cmp_swap, write, send, immediate. The source of a
//                                       Write or Send and the sink of a Read or atomic are this end's. The last four
//                                       are operands of an atomic
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "rdmap/grant.hpp"

namespace weft::explain::laboratory {

// Memory that this end has registered.
struct RegionScript {
  std::uint32_t stag{};   // names it on the wire
  std::uint64_t begin{};  // tagged offset of the first octet
  std::uint64_t size{};
  rdmap::Access access{};           // remote rights of the peer, and kLocalWrite
  std::vector<std::byte> octets{};  // what it holds from `begin` on; zeros after that
};

// Local work, and when it is posted.
struct WorkScript {
  std::uint64_t row{};  // of the ladder: posted when the octets of this row are fed
  engine::Operation what{};
  std::uint32_t sink_stag{};
  std::uint64_t sink_offset{};
  std::uint32_t source_stag{};
  std::uint64_t source_offset{};
  std::uint32_t size{};  // octets that are moved
  rdmap::AtomicOperation atomic{};
};

// One end of a connection.
struct Script {
  static constexpr std::size_t kMostText = 16U << 20;  // octets of text that parse_script() takes
  static constexpr std::size_t kMostLines = 100'000;

  mpa::Role role{};
  mpa::Policy policy{};
  bool reject{};
  engine::NoReceive no_receive{};
  std::uint32_t emss = 1460;
  std::uint32_t first_atomic_id = 0;
  std::vector<std::byte> private_data{};
  std::vector<RegionScript> regions{};
  std::vector<std::uint64_t> receives{};  // sizes
  std::vector<WorkScript> work{};         // by rising row
};

// The script, or a sentence on the line that is wrong.
[[nodiscard]] std::expected<Script, std::string> parse_script(std::string_view text);

}  // namespace weft::explain::laboratory
