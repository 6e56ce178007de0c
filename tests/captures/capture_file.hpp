// SPDX-License-Identifier: Apache-2.0
// A capture file as the TCP connections in it: what each side sent, in the order in which the capture shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::captures {

enum class Side : std::uint8_t { kClient, kServer };  // the client sent the SYN

struct Chunk {
  Side from{};
  std::vector<std::byte> octets{};  // in sequence, each octet once
};

struct Connection {
  std::uint16_t client_port{};
  std::uint16_t server_port{};
  std::vector<Chunk> chunks{};
};

// Throws what libtins throws when the file cannot be read. Only connections whose handshake was captured are seen.
std::vector<Connection> read_connections(const std::string& path);

// All octets of one direction.
std::vector<std::byte> octets_from(const Connection& connection, Side side);

}  // namespace weft::captures
