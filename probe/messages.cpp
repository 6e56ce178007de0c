// SPDX-License-Identifier: Apache-2.0
#include "probe/messages.hpp"

#include "rdmap/control.hpp"
#include "rdmap/immediate.hpp"

namespace weft::probe {
namespace {

template <typename Header>
Ulpdu compose(const Header& header, Bytes payload) {
  Ulpdu out(ddp::header_size(ddp::Header(header)) + payload.size());
  const std::size_t size = ddp::serialize(header, out);
  std::ranges::copy(payload, out.begin() + static_cast<std::ptrdiff_t>(size));
  return out;
}

Ulpdu tagged(rdmap::Opcode opcode, ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload, bool last) {
  return compose(ddp::TaggedHeader{last, rdmap::control_octet(opcode), stag, offset}, payload);
}

std::uint32_t queue_of(rdmap::Opcode opcode) noexcept { return std::to_underlying(*rdmap::row(opcode).queue); }

}  // namespace

std::vector<std::byte> pattern(std::size_t size, std::uint8_t first) {
  std::vector<std::byte> octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>((first + i * 5) & 0xFFU);
  return octets;
}

Ulpdu Messages::write(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload, bool last) const {
  return tagged(rdmap::Opcode::kWrite, stag, offset, payload, last);
}

Ulpdu Messages::read_response(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload, bool last) const {
  return tagged(rdmap::Opcode::kReadResponse, stag, offset, payload, last);
}

Ulpdu Messages::segment(std::uint8_t rdmap_control, std::uint32_t queue, Bytes payload, std::uint32_t word,
                        std::uint32_t offset, bool last) {
  Ulpdu out = compose(ddp::UntaggedHeader{last, rdmap_control, word, queue, {next_msn(queue)}, {offset}}, payload);
  if (last && queue < next_.size()) ++next_[queue];
  return out;
}

Ulpdu Messages::untagged(std::uint8_t rdmap_control, std::uint32_t queue, Bytes payload, std::uint32_t word) {
  return segment(rdmap_control, queue, payload, word, 0, true);
}

Ulpdu Messages::send(Bytes payload, rdmap::Opcode opcode, ddp::Stag invalidate) {
  return send_segment(payload, 0, true, opcode, invalidate);
}

Ulpdu Messages::send_segment(Bytes payload, std::uint32_t offset, bool last, rdmap::Opcode opcode,
                             ddp::Stag invalidate) {
  return segment(rdmap::control_octet(opcode), queue_of(opcode), payload, invalidate.value, offset, last);
}

Ulpdu Messages::read_request(const rdmap::ReadRequest& request) {
  std::array<std::byte, rdmap::ReadRequestLayout::kSize> payload;
  rdmap::serialize(request, payload);
  return send(payload, rdmap::Opcode::kReadRequest);
}

Ulpdu Messages::atomic(const rdmap::AtomicRequest& request) {
  std::array<std::byte, rdmap::AtomicRequestLayout::kSize> payload;
  rdmap::serialize(request, payload);
  return send(payload, rdmap::Opcode::kAtomicRequest);
}

Ulpdu Messages::atomic_response(const rdmap::AtomicResponse& response) {
  std::array<std::byte, rdmap::AtomicResponseLayout::kSize> payload;
  rdmap::serialize(response, payload);
  return send(payload, rdmap::Opcode::kAtomicResponse);
}

Ulpdu Messages::immediate(std::uint64_t data, bool solicited) {
  std::array<std::byte, sizeof data> payload;
  Be<0, std::uint64_t>::put(payload, data);
  return send(payload, rdmap::immediate_opcode(solicited));
}

Ulpdu Messages::terminate(const rdmap::Terminate& terminate) {
  std::array<std::byte, rdmap::TerminateLayout::kLongest> payload;
  const std::size_t size = rdmap::serialize(terminate, payload);
  return send(Bytes(payload).first(size), rdmap::Opcode::kTerminate);
}

}  // namespace weft::probe
