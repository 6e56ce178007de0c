// SPDX-License-Identifier: Apache-2.0
// What an engine needs to stand in for one end of a connection, so that the laboratory can show it the octets of the
// other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/wire.hpp"
#include "mpa/agreement.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/read_request.hpp"

namespace weft::explain {

/// A request that this end sent, and that the other end's answer belongs to.
struct ScriptPost {
  std::size_t before_row{};                      ///< the row of the request
  rdmap::ReadRequest read{};                     ///< of an RDMA Read
  std::optional<rdmap::AtomicRequest> atomic{};  ///< instead, of an atomic operation
};

/// How one end of a connection was set up, as far as its octets tell.
struct LaboratoryScript {
  bool initiator{};                       ///< its role
  bool crc{};                             ///< its C bit
  bool markers{};                         ///< its M bit: it wants Markers in what it receives
  bool enhanced{};                        ///< its S bit
  bool peer_to_peer{};                    ///< its A bit
  bool rejects{};                         ///< its Reply had R set
  bool refuses_sends{};                   ///< it sent the Terminate of a Send without a receive
  std::uint8_t revision{};                ///< of MPA
  std::uint16_t ird = 128;                ///< as its frame says
  std::uint16_t ord = 128;                ///< as its frame says
  mpa::RtrTypes rtr_types{};              ///< the ready-to-receive indications that it offers or takes
  std::optional<mpa::Rtr> rtr{};          ///< the ready-to-receive indication that was sent
  std::vector<std::byte> private_data{};  ///< of its frame
  std::vector<ScriptPost> posts{};        ///< in the order of the capture
};

struct Connection;

/// Fills in the scripts of both ends; none where the startup was not captured.
void write_scripts(Connection& connection);

}  // namespace weft::explain
