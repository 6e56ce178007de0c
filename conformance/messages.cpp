// SPDX-License-Identifier: Apache-2.0
#include "conformance/messages.hpp"

#include <algorithm>
#include <utility>

#include "rdmap/control.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"

namespace weft::conformance {
namespace {

bool is_last(const ddp::Header& header) {
  return std::visit([](const auto& h) { return h.last; }, header);
}

std::uint8_t opcode_of(const ddp::Header& header) {
  return rdmap::opcode_bits(std::visit([](const auto& h) { return h.rsvd_ulp; }, header));
}

// Segments of different messages may stand between each other, but not of two that have the same of these: an
// RDMA Write, another tagged message, a queue. Queues that do not exist count as one.
std::uint32_t sequence_of(const ddp::Header& header) {
  constexpr std::uint32_t kQueues = 4;
  if (const auto* untagged = std::get_if<ddp::UntaggedHeader>(&header)) return std::min(untagged->queue, kQueues);
  return opcode_of(header) == std::to_underlying(rdmap::Opcode::kWrite) ? kQueues + 1 : kQueues + 2;
}

// The segment with this header stands right after what was seen of the message.
bool continues(const Message& message, const ddp::Header& header) {
  if (message.opcode() != opcode_of(header)) return false;
  if (const auto* next = std::get_if<ddp::TaggedHeader>(&header)) {
    const auto* first = std::get_if<ddp::TaggedHeader>(&message.header);
    return first != nullptr && first->stag == next->stag && first->offset.value + message.octets == next->offset.value;
  }
  const auto& next = std::get<ddp::UntaggedHeader>(header);
  const auto* first = std::get_if<ddp::UntaggedHeader>(&message.header);
  return first != nullptr && first->queue == next.queue && first->msn == next.msn &&
         first->offset.value + message.octets == next.offset.value;
}

Message begin_message(const FpduSeen& fpdu, const ddp::Header& header, bool unsure) {
  const auto* untagged = std::get_if<ddp::UntaggedHeader>(&header);
  return {.from = fpdu.piece.from,
          .header = header,
          .number = fpdu.number,
          .first_packet = fpdu.piece.first.packet,
          .begun = untagged != nullptr ? untagged->offset.value == 0 : !unsure};
}

void add_segment(Message& message, const FpduSeen& fpdu, const ddp::Header& header) {
  const Bytes payload = fpdu.ulpdu.subspan(ddp::header_size(header));
  if (std::holds_alternative<ddp::UntaggedHeader>(header) && message.octets < Message::kFront) {
    const std::size_t room = Message::kFront - message.octets;
    std::ranges::copy(payload.first(std::min(payload.size(), room)),
                      message.front_octets.begin() + static_cast<std::ptrdiff_t>(message.octets));
  }
  ++message.fpdus;
  message.octets += payload.size();
  message.last_packet = fpdu.piece.last.packet;
  message.ended = is_last(header);
}

}  // namespace

std::uint8_t Message::opcode() const noexcept { return opcode_of(header); }

Bytes Message::front() const noexcept {
  const bool kept = begun && std::holds_alternative<ddp::UntaggedHeader>(header);
  return Bytes(front_octets).first(kept ? std::min<std::uint64_t>(octets, kFront) : 0);
}

std::optional<mpa::Rtr> ready_to_receive(std::uint8_t opcode, std::uint64_t octets, Bytes front) noexcept {
  using enum rdmap::Opcode;
  const auto kind = static_cast<rdmap::Opcode>(opcode);
  if (kind == kReadRequest) {
    const auto request = rdmap::parse_read_request(front);
    return request && request->size == 0 ? std::optional(mpa::Rtr::kRead) : std::nullopt;
  }
  if (octets != 0) return std::nullopt;
  if (kind == kWrite) return mpa::Rtr::kWrite;
  return kind == kSend || kind == kSendSolicited ? std::optional(mpa::Rtr::kSend) : std::nullopt;
}

void MessageJoiner::take(const StartupSeen& startup) {
  halves_[static_cast<std::size_t>(startup.piece.from)].peer_to_peer =
      startup.frame && startup.frame->enhanced && startup.frame->enhanced->peer_to_peer;
}

bool MessageJoiner::take(const FpduSeen& fpdu) {
  Half& half = halves_[static_cast<std::size_t>(fpdu.piece.from)];
  const bool unsure = std::exchange(half.unsure, false) || (fpdu.number == 1 && fpdu.mid_stream);
  if (fpdu.crc == CrcVerdict::kBad || ddp::find_error(fpdu.ulpdu)) {
    half.unsure = true;
    return false;
  }
  const ddp::Header header = ddp::read(fpdu.ulpdu);
  auto found =
      std::ranges::find(half.open, sequence_of(header), [](const Message& m) { return sequence_of(m.header); });
  if (found != half.open.end() && !continues(*found, header)) {
    end(half, static_cast<std::size_t>(found - half.open.begin()));
    found = half.open.end();
  }
  if (found == half.open.end()) found = half.open.insert(found, begin_message(fpdu, header, unsure));
  add_segment(*found, fpdu, header);
  if (found->ended) end(half, static_cast<std::size_t>(found - half.open.begin()));
  return true;
}

void MessageJoiner::break_off(Direction from) {
  Half& half = halves_[static_cast<std::size_t>(from)];
  while (!half.open.empty()) end(half, 0);
  half.unsure = true;
}

std::optional<Message> MessageJoiner::next() {
  if (over_.empty()) return std::nullopt;
  const Message message = over_.front();
  over_.pop_front();
  return message;
}

void MessageJoiner::end(Half& half, std::size_t index) {
  Message& message = over_.emplace_back(half.open[index]);
  message.rtr = std::ranges::all_of(halves_, &Half::peer_to_peer) && message.from == Direction::kFromInitiator &&
                message.number == 1 && message.begun &&
                ready_to_receive(message.opcode(), message.octets, message.front());
  half.open.erase(half.open.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace weft::conformance
