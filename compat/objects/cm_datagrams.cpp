// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/cm_datagrams.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "common/wire.hpp"
#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/datagrams.hpp"
#include "compat/objects/report.hpp"

namespace weft::compat {

// --- Messages

namespace {

constexpr std::array<std::byte, 7> kMagic{std::byte{'w'}, std::byte{'e'}, std::byte{'f'}, std::byte{'t'},
                                          std::byte{'U'}, std::byte{'D'}, std::byte{1}};
constexpr std::size_t kKindAt = kMagic.size();
using NumberField = Be<8, std::uint32_t>;
using QkeyField = Be<12, std::uint32_t>;

}  // namespace

std::vector<std::byte> encode(const DatagramMessage& message, std::span<const std::byte> private_data) {
  std::vector<std::byte> octets(kDatagramMessageSize + private_data.size());
  std::ranges::copy(kMagic, octets.begin());
  octets[kKindAt] = static_cast<std::byte>(message.kind);
  NumberField::put(octets, message.number);
  QkeyField::put(octets, message.qkey);
  std::ranges::copy(private_data, octets.begin() + kDatagramMessageSize);
  return octets;
}

std::optional<DatagramMessage> decode_datagram_message(std::span<const std::byte> octets) noexcept {
  using enum DatagramMessage::Kind;
  if (octets.size() < kDatagramMessageSize || !std::ranges::equal(octets.first(kMagic.size()), kMagic)) return {};
  const auto kind = static_cast<DatagramMessage::Kind>(octets[kKindAt]);
  if (kind != kQuestion && kind != kAnswer && kind != kRefusal) return {};
  return DatagramMessage{.kind = kind, .number = NumberField::get(octets), .qkey = QkeyField::get(octets)};
}

// --- Calls

namespace {

std::uint32_t number_of(const CmId& id, std::uint32_t named) { return id.qp != nullptr ? id.qp->qp_num : named; }

std::vector<std::byte> message(DatagramMessage::Kind kind, std::uint32_t number,
                               std::span<const std::byte> private_data) {
  return encode({.kind = kind, .number = number, .qkey = RDMA_UDP_QKEY}, private_data);
}

}  // namespace

bool has_datagrams(const CmId& id) noexcept { return id.ps == RDMA_PS_UDP; }

int ask_for_queue_pair(CmId& id, std::uint32_t named, std::span<const std::byte> private_data) {
  constexpr std::string_view kCall = "rdma_connect";
  if (id.own_pair) return refused_minus_one(kCall, EINVAL, "already connecting");
  auto made = make_own_queue_pair(id);
  if (!made) return refused_minus_one(kCall, made.error());
  id.own_pair = std::move(*made);  // before the engine's call: the event may be faster than its return
  const auto question = message(DatagramMessage::Kind::kQuestion, number_of(id, named), private_data);
  if (const auto begun = id.engine.connect(id.own_pair->pair, {.private_data = question}); !begun) {
    id.own_pair.reset();
    return refused_minus_one(kCall, begun.error());
  }
  return complete(id);
}

int answer_with_queue_pair(CmId& id, std::uint32_t named, std::span<const std::byte> private_data) {
  constexpr std::string_view kCall = "rdma_accept";
  const std::uint32_t number = number_of(id, named);
  if (number == 0) return refused_minus_one(kCall, EINVAL, "no queue pair");
  const auto answered = id.engine.reject(message(DatagramMessage::Kind::kAnswer, number, private_data));
  return answered ? 0 : refused_minus_one(kCall, answered.error());
}

int refuse_queue_pair(CmId& id, std::span<const std::byte> private_data) {
  const auto refused = id.engine.reject(encode({.kind = DatagramMessage::Kind::kRefusal}, private_data));
  return refused ? 0 : refused_minus_one("rdma_reject", refused.error());
}

// --- Events

bool describe_datagrams(CmEvent& event, const verbs::Address& peer, DatagramMessage::Kind expected) {
  auto& parameters = event.param.ud;
  parameters = {};
  const auto message = decode_datagram_message(event.private_data);
  if (!message) return false;
  const auto own = std::span(event.private_data).subspan(kDatagramMessageSize);
  parameters.private_data = own.empty() ? nullptr : own.data();
  parameters.private_data_len = static_cast<std::uint8_t>(std::min<std::size_t>(own.size(), UINT8_MAX));
  if (message->kind != expected) return false;
  parameters.ah_attr = path_to(std::bit_cast<ibv_gid>(peer.to_ipv6()), 1);
  parameters.qp_num = message->number;
  parameters.qkey = message->qkey;
  return true;
}

}  // namespace weft::compat
