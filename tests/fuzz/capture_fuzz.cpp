// SPDX-License-Identifier: Apache-2.0
// A hostile capture: the octets of a pcap or pcapng file, compressed or not, through the reader and TCP, and through UDP. What comes out
// of a direction has to be in sequence, and nothing comes after its end.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>

#include "conformance/capture_reader.hpp"
#include "conformance/tcp_connections.hpp"
#include "conformance/udp_datagrams.hpp"
#include "tests/conformance/tcp_sequence.hpp"
#include "tests/fuzz/capture_input.hpp"

using namespace weft::conformance;
using weft::fuzz::as_capture;
using weft::fuzz::require;

namespace {

constexpr std::size_t kMostPackets = 20000;

void poll(TcpConnections& tcp, testing::TcpSequence& sequence) {
  unsigned sum = 0;
  while (const auto event = tcp.next()) {
    if (const char* wrong = sequence.take(*event)) {
      std::fprintf(stderr, "connection %zu: %s\n", event->connection, wrong);
      std::abort();
    }
    const auto* of_tcp = std::get_if<TcpEvent>(&event->event);
    const auto* told = of_tcp == nullptr ? nullptr : std::get_if<TcpOctets>(of_tcp);
    if (told == nullptr) continue;
    for (const std::byte octet : told->octets) sum += std::to_integer<unsigned>(octet);
  }
  [[maybe_unused]] static volatile unsigned read = 0;  // so that each octet is
  read = sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto reader = CaptureReader::open(as_capture(data, size));
  if (!reader) return 0;
  TcpConnections tcp({.connections = 4, .buffered_per_direction = 4096, .buffered = 8192});
  UdpDatagrams udp;
  testing::TcpSequence sequence;
  // A few compressed octets can hold packets for hours; more of the same shows nothing new.
  for (std::size_t packets = 0; packets < kMostPackets; ++packets) {
    const auto next = reader->next();
    const auto* packet = std::get_if<Packet>(&next);
    if (packet == nullptr) break;
    if (const auto datagram = udp.take(*packet)) require(datagram->payload.size() <= datagram->size);
    require(tcp.take(*packet));
    poll(tcp, sequence);
  }
  tcp.finish();
  poll(tcp, sequence);
  return 0;
}
