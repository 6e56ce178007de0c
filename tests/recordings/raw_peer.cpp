// SPDX-License-Identifier: Apache-2.0
#include "raw_peer.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/crc32c.hpp"
#include "rdmap/control.hpp"

namespace weft::recordings {

void RawPeer::send_frame(const mpa::StartupFrame& frame) {
  Octets octets(frame.size());
  mpa::serialize(frame, octets);
  send(octets);
}

void RawPeer::hear_frame() {
  Octets frame = socket_.read(mpa::kFixedFrameSize);
  const Octets rest = socket_.read(mpa::missing_octets(frame));
  frame.insert(frame.end(), rest.begin(), rest.end());
}

Octets RawPeer::fpdu(const Octets& ulpdu) {
  Octets room(out_.fpdu_size(ulpdu.size()));
  std::ranges::copy(ulpdu, room.begin() + static_cast<std::ptrdiff_t>(out_.prefix_size()));
  out_.seal(room, ulpdu.size());
  return room;
}

Octets RawPeer::ulpdu(const ddp::Header& header, const Octets& payload) {
  Octets octets(ddp::header_size(header));
  ddp::serialize(header, octets);
  octets.insert(octets.end(), payload.begin(), payload.end());
  return octets;
}

void RawPeer::tagged(rdmap::Opcode opcode, std::uint32_t stag, std::uint64_t offset, const Octets& payload) {
  segment(ddp::TaggedHeader{true, rdmap::control_octet(opcode), {stag}, {offset}}, payload);
}

void RawPeer::untagged(rdmap::Opcode opcode, std::uint32_t msn, const Octets& payload, std::uint32_t offset) {
  const auto queue = std::to_underlying(*rdmap::row(opcode).queue);
  segment(ddp::UntaggedHeader{true, rdmap::control_octet(opcode), 0, queue, {msn}, {offset}}, payload);
}

rdmap::Terminate RawPeer::hear_terminate() {
  Octets stream = socket_.read_to_end();
  Octets last;
  for (MutableBytes rest = stream; !rest.empty();) {
    const auto fpdu = in_.next(rest);
    if (!fpdu || !*fpdu) throw std::runtime_error("what weft sends are no FPDUs");
    last.assign((*fpdu)->ulpdu.begin(), (*fpdu)->ulpdu.end());
    rest = rest.subspan((*fpdu)->consumed);
  }
  const auto header = ddp::parse(last);
  const auto* untagged = header ? std::get_if<ddp::UntaggedHeader>(&*header) : nullptr;
  if (untagged == nullptr || untagged->rsvd_ulp != rdmap::control_octet(rdmap::Opcode::kTerminate)) {
    throw std::runtime_error("no Terminate came");
  }
  return rdmap::parse_terminate(Bytes(last).subspan(ddp::header_size(*header))).value().as_rfc;
}

Octets pattern(std::size_t size) {
  Octets octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>(i & 0xff);
  return octets;
}

void repair_crc(Octets& fpdu) {
  const std::uint32_t crc = crc32c(Bytes(fpdu).first(fpdu.size() - mpa::kCrcSize));
  for (std::size_t i = 0; i < mpa::kCrcSize; ++i) {
    fpdu[fpdu.size() - mpa::kCrcSize + i] = static_cast<std::byte>(crc >> (8 * i) & 0xff);
  }
}

}  // namespace weft::recordings
