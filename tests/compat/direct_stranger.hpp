// SPDX-License-Identifier: Apache-2.0
// A peer at a plain TCP socket that speaks MPA (RFC 5044, RFC 6581) and claims to be a queue pair that a program connects
// itself. Its octets are written out here: none come from the code under test.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "ends.hpp"

namespace weft::compat::test {

inline constexpr std::uint32_t kUnknownPsn = 0xFFFFFFFF;

inline std::string octets_of(std::uint32_t value) {
  std::string all;
  for (int shift = 24; shift >= 0; shift -= 8) all += static_cast<char>(value >> shift & 0xFF);
  return all;
}

// What it says of itself: compat/direct/greeting.hpp has the figure.
struct Claim {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t sq_psn = 0;
  std::uint32_t rq_psn = 0;
  std::string name = std::string("weft-qp\x01", 8);
  std::string from_address{127, 0, 0, 1};
  std::size_t size = 64;  // less: cut off

  [[nodiscard]] std::string octets() const {
    const std::string mapped = std::string(10, '\0') + "\xFF\xFF";
    const std::string all = name + octets_of(from) + octets_of(to) + octets_of(sq_psn) + octets_of(rq_psn) + mapped +
                            from_address + mapped + std::string{127, 0, 0, 1} + std::string(8, '\0');
    return all.substr(0, size);
  }
};

// A startup frame of revision 2 with CRC, peer-to-peer (A), IRD 1 and ORD 1, and RDMA Write as ready-to-receive (C).
inline std::string startup_frame(std::string_view key, const std::string& private_data) {
  const auto length = static_cast<std::uint32_t>(private_data.size() + 4);
  return std::string(key) + "\x50\x02" + octets_of(length).substr(2) + std::string("\x80\x01\x80\x01", 4) +
         private_data;
}

// CRC32c (RFC 3720 section 12.1), the least significant octet first.
inline std::string crc_of(std::string_view octets) {
  std::uint32_t crc = ~0U;
  for (const char octet : octets) {
    crc ^= static_cast<unsigned char>(octet);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
  }
  const std::string big = octets_of(~crc);
  return {big.rbegin(), big.rend()};
}

// An FPDU with the first Send of a stream (RFC 5041 figure 4, RFC 5040 figure 4), of 8 octets.
inline std::string first_send(std::string_view payload) {
  std::string fpdu = octets_of(26).substr(2) + "\x41\x43" + octets_of(0) + octets_of(0) + octets_of(1) + octets_of(0);
  fpdu += std::string(payload);
  return fpdu + crc_of(fpdu);
}

class Stranger {
 public:
  static constexpr std::size_t kHeader = 20;
  explicit Stranger(int socket) : socket_(socket) {
    if (socket < 0) throw std::runtime_error("no socket");
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  static int connected(unsigned port) {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(port);
    if (::connect(made, plain(address), sizeof address) == 0) return made;
    throw std::runtime_error("connect");
  }
  void say(std::string_view octets) const {
    if (::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(octets.size())) {
      throw std::runtime_error("send");
    }
  }
  // As many octets, or less at the end of the stream.
  [[nodiscard]] std::string hear(std::size_t octets) const {
    std::string heard;
    std::array<char, 256> some{};
    while (heard.size() < octets && readable(socket_)) {
      const ssize_t got = ::recv(socket_, some.data(), std::min(some.size(), octets - heard.size()), 0);
      if (got <= 0) break;
      heard.append(some.data(), static_cast<std::size_t>(got));
    }
    return heard;
  }
  // A startup frame: its header and what follows it.
  [[nodiscard]] std::string hear_frame() const {
    std::string frame = hear(kHeader);
    if (frame.size() < kHeader) return frame;
    const auto at = [&](std::size_t place) {
      return static_cast<std::size_t>(static_cast<unsigned char>(frame[place]));
    };
    return frame + hear(at(18) << 8 | at(19));
  }
  [[nodiscard]] int socket() const { return socket_; }

 private:
  const int socket_;
};

class StrangersPort {
 public:
  StrangersPort() {
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    must(::bind(socket_, plain(address), length), "bind");
    must(::listen(socket_, 8), "listen");
    must(::getsockname(socket_, plain(address), &length), "getsockname");
    port_ = ntohs(address.sin_port);
  }
  ~StrangersPort() { ::close(socket_); }
  StrangersPort(const StrangersPort&) = delete;
  StrangersPort& operator=(const StrangersPort&) = delete;
  [[nodiscard]] std::uint32_t number() const { return std::uint32_t{port_} << 8 | 7; }
  [[nodiscard]] int accept() const {
    return readable(socket_) ? ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC) : -1;
  }

 private:
  const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
};

}  // namespace weft::compat::test
