// SPDX-License-Identifier: Apache-2.0
// ULPs that are known by the first octets of their messages.
#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "conformance/dissection.hpp"

namespace weft::conformance {
namespace {

// RFC 8166 section 4: | xid 4 | version 4 | credits 4 | procedure 4 |, procedures 0 to 4. A call or reply of RPC
// follows an RDMA_MSG.
std::string rpc_over_rdma(Bytes payload) {
  if (payload.size() < 28 || payload.size() % 4 != 0) return {};
  const auto version = Be<4, std::uint32_t>::get(payload);
  const auto credits = Be<8, std::uint32_t>::get(payload);
  const auto procedure = Be<12, std::uint32_t>::get(payload);
  constexpr std::array kProcedures{"RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR"};
  if (version != 1 || credits == 0 || credits > 65535 || procedure >= kProcedures.size()) return {};
  return fmt::format("RPC-over-RDMA version 1, {}, xid {:#010x}, {} credits", kProcedures[procedure],
                     Be<0, std::uint32_t>::get(payload), credits);
}

// RFC 7145 section 9: the iSER header is 28 octets, its opcode in the high nibble: 1 iSCSI control, 2 Hello, 3
// HelloReply.
std::string iser(Bytes payload) {
  if (payload.size() < 28) return {};
  const auto first = std::to_integer<unsigned>(payload[0]);
  const bool rest_reserved = payload[1] == std::byte{0} && payload[2] == std::byte{0} && payload[3] == std::byte{0};
  if (!rest_reserved) return {};
  if (first >> 4 == 1 && (first & 3) == 0 && payload.size() >= 28 + 48) return "iSER, iSCSI control-type PDU";
  if (first == 0x20 && payload.size() == 28) return "iSER Hello";
  if ((first & 0xfe) == 0x30 && payload.size() == 28) return "iSER HelloReply";
  return {};
}

// MS-SMBD 2.2.3, little-endian: | CreditsRequested 2 | CreditsGranted 2 | Flags 2 | Reserved 2 | RemainingDataLength 4
// | DataOffset 4 | DataLength 4 |, and after it an SMB2 message: fe 53 4d 42.
std::string smb_direct(Bytes payload) {
  constexpr std::size_t kDataOffset = 24;
  if (payload.size() < kDataOffset + 4) return {};
  constexpr std::array kSmb2{std::byte{0xfe}, std::byte{'S'}, std::byte{'M'}, std::byte{'B'}};
  for (std::size_t i = 0; i < kSmb2.size(); ++i) {
    if (payload[kDataOffset + i] != kSmb2[i]) return {};
  }
  return "SMB Direct, SMB2 message";
}

}  // namespace

std::string recognise_payload(Bytes payload) {
  for (const auto look : {smb_direct, rpc_over_rdma, iser}) {
    if (std::string found = look(payload); !found.empty()) return found;
  }
  return {};
}

}  // namespace weft::conformance
