// SPDX-License-Identifier: Apache-2.0
// RDMA_PS_UDP: programs ask a listener which queue pair to send datagrams to, and are told its number and Q_Key. The
// question is an MPA Request, and the answer is its rejection, so that no connection comes of it. Both have 16 octets
// in front of the program's private data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "verbs/endpoint.hpp"
#include "verbs/queue_pair.hpp"

namespace weft::compat {

struct CmEvent;
struct CmId;

// Version 1, 16 octets in network order: "weftUD", the version, the kind, number, qkey.
struct DatagramMessage {
  enum class Kind : std::uint8_t { kQuestion = 1, kAnswer = 2, kRefusal = 3 };
  Kind kind{};
  std::uint32_t number{};  // of the sender's queue pair; 0 in a refusal, or if the program named none
  std::uint32_t qkey{};    // that it wants datagrams to have
  bool operator==(const DatagramMessage&) const = default;
};
inline constexpr std::size_t kDatagramMessageSize = 16;
[[nodiscard]] std::vector<std::byte> encode(const DatagramMessage& message, std::span<const std::byte> private_data);
// Decodes a message of version 1. Returns nothing for other octets.
[[nodiscard]] std::optional<DatagramMessage> decode_datagram_message(std::span<const std::byte> octets) noexcept;

// Returns whether the identifier is for datagrams.
[[nodiscard]] bool has_datagrams(const CmId& id) noexcept;
// rdma_connect, rdma_accept and rdma_reject of such an identifier. -1 and errno. `named`: the queue pair's number in
// rdma_conn_param, or 0; that of the identifier's own precedes it.
int ask_for_queue_pair(CmId& id, std::uint32_t named, std::span<const std::byte> private_data);
int answer_with_queue_pair(CmId& id, std::uint32_t named, std::span<const std::byte> private_data);
int refuse_queue_pair(CmId& id, std::span<const std::byte> private_data);
// Fills in event.param.ud of a question, or of an answer, from `peer`. False if event.private_data is neither.
[[nodiscard]] bool describe_datagrams(CmEvent& event, const verbs::Address& peer, DatagramMessage::Kind expected);

}  // namespace weft::compat
