// SPDX-License-Identifier: Apache-2.0
#include "tests/captures/capture_file.hpp"

#include <tins/sniffer.h>
#include <tins/tcp.h>
#include <tins/tcp_ip/stream_follower.h>

#include <algorithm>

namespace weft::captures {
namespace {

void append(Connection& connection, Side from, const Tins::TCPIP::Stream::payload_type& payload) {
  if (payload.empty()) return;
  Chunk chunk{from, std::vector<std::byte>(payload.size())};
  std::ranges::transform(payload, chunk.octets.begin(), [](std::uint8_t octet) { return std::byte{octet}; });
  connection.chunks.push_back(std::move(chunk));
}

}  // namespace

std::vector<Connection> read_connections(const std::string& path) {
  std::vector<Connection> connections;
  Tins::TCPIP::StreamFollower follower;
  follower.new_stream_callback([&connections](Tins::TCPIP::Stream& stream) {
    const std::size_t index = connections.size();
    connections.push_back({stream.client_port(), stream.server_port(), {}});
    stream.client_data_callback([&connections, index](Tins::TCPIP::Stream& s) {
      append(connections[index], Side::kClient, s.client_payload());
    });
    stream.server_data_callback([&connections, index](Tins::TCPIP::Stream& s) {
      append(connections[index], Side::kServer, s.server_payload());
    });
  });
  Tins::FileSniffer sniffer(path);
  sniffer.sniff_loop([&follower](Tins::PDU& packet) {
    if (packet.find_pdu<Tins::TCP>() != nullptr) follower.process_packet(packet);
    return true;
  });
  return connections;
}

std::vector<std::byte> octets_from(const Connection& connection, Side side) {
  std::vector<std::byte> all;
  for (const Chunk& chunk : connection.chunks) {
    if (chunk.from == side) all.insert(all.end(), chunk.octets.begin(), chunk.octets.end());
  }
  return all;
}

}  // namespace weft::captures
