// SPDX-License-Identifier: Apache-2.0
#include "conformance/udp_datagrams.hpp"

#include "conformance/capture/packet_decoder.hpp"

namespace weft::conformance {

class UdpDatagrams::Decoder : public capture::PacketDecoder {};

UdpDatagrams::UdpDatagrams() : decoder_(std::make_unique<Decoder>()) {}
UdpDatagrams::~UdpDatagrams() = default;
UdpDatagrams::UdpDatagrams(UdpDatagrams&&) noexcept = default;
UdpDatagrams& UdpDatagrams::operator=(UdpDatagrams&&) noexcept = default;

std::optional<UdpDatagram> UdpDatagrams::take(const Packet& packet) {
  const auto udp = decoder_->decode_datagram(packet);
  if (!udp) return std::nullopt;
  return UdpDatagram{.path = in_words(udp->path),
                     .source = {in_words(udp->source.address), udp->source.port},
                     .destination = {in_words(udp->destination.address), udp->destination.port},
                     .size = udp->payload_size,
                     .payload = udp->payload};
}

}  // namespace weft::conformance
