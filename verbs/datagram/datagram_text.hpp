// SPDX-License-Identifier: Apache-2.0
// The fields of a datagram between two weft ends, described for people. The data path does not use them.
#pragma once

#include <string>

#include "common/field.hpp"
#include "common/text.hpp"
#include "verbs/datagram.hpp"
#include "verbs/datagram/datagram_header.hpp"

namespace weft::verbs::detail {

// "UDP port 40000": where the queue pair receives.
[[nodiscard]] inline std::string number_text(std::uint64_t number) {
  const auto port = DatagramQueuePair::port_of(static_cast<std::uint32_t>(number));
  return DatagramQueuePair::number_at(port) == number ? "UDP port " + std::to_string(port) : std::string();
}

inline constexpr auto kDatagramFields = field_table(
    "weft", "docs/decisions/0032-datagrams.md",
    {
        octet_field(1, "Version", "", "The version of the header, which is 1."),
        octet_field(1, "Flags", "", "What the datagram asks of its receiver and carries, bit by bit."),
        bit_field(6, "Rsv", "", "Reserved bits, which are zero."),
        bit_field(1, "Imm", "", "Set if the datagram carries immediate data."),
        bit_field(1, "SE", "", "Set if the receive is a solicited event."),
        octet_field(2, "Length", "", "The number of octets of the payload, without this header.", {}, octets_text),
        octet_field(4, "Destination QP", "",
                    "The number of the queue pair that receives; its upper 16 of 24 bits are a UDP port.", {},
                    number_text),
        octet_field(4, "Source QP", "",
                    "The number of the queue pair that sends; its upper 16 of 24 bits are a UDP port.", {},
                    number_text),
        octet_field(4, "Q_Key", "", "The key that the receiver must have, or it drops the datagram."),
        octet_field(4, "Immediate Data", "", "Four octets for the completion of the receive; zero without Imm."),
    });
static_assert(end_of(kDatagramFields) == DatagramLayout::kSize);

inline constexpr auto kDatagramPayloadFields = field_table(
    "ulp", "docs/decisions/0032-datagrams.md",
    {octet_field(0, "Payload", "", "The octets of the program; the receive has them after 40 of its own header.")});

}  // namespace weft::verbs::detail
