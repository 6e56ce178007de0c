// SPDX-License-Identifier: Apache-2.0
// Two pipes with TLS at the ends of one TCP connection, driven by hand in one thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"
#include "tls_keys.hpp"
#include "transport/pipe.hpp"
#include "transport/tls/fault.hpp"
#include "transport/tls/session.hpp"

namespace weft::transport::test {

using Status = IoResult::Status;

inline std::unique_ptr<tls::Session> session(const tls::Settings& settings, tls::Part part) {
  return tls::Session::make(tls::Context::find(settings).value().context, part);
}

// What comes within kPatience: the socket may be readable by a part of a record.
inline IoResult read_some(Pipe& pipe, MutableBytes into) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  auto io = pipe.read(into);
  while (io.status == Status::kWouldBlock && std::chrono::steady_clock::now() < end) {
    becomes_readable(pipe.socket().descriptor());
    io = pipe.read(into);
  }
  return io;
}

inline IoResult write_one(Pipe& pipe, Bytes octets) { return pipe.write(std::span(&octets, 1)); }

struct TlsEnds {
  explicit TlsEnds(const tls::Settings& of_client, const tls::Settings& of_server, tls::Part part = tls::Part::kServer)
      : TlsEnds(connected_pair(), of_client, of_server, part) {}
  TlsEnds(std::pair<Socket, Socket> sockets, const tls::Settings& of_client, const tls::Settings& of_server,
          tls::Part part = tls::Part::kServer)
      : client(std::move(sockets.first), session(of_client, tls::Part::kClient)),
        server(std::move(sockets.second), session(of_server, part)) {}
  explicit TlsEnds(const TlsKeys& keys) : TlsEnds(keys.client(), keys.server()) { shake_hands(); }

  Pipe client;
  Pipe server;

  // Until each end has said that it is secured, or one has failed: what each said last.
  std::pair<IoResult, IoResult> try_to_shake_hands() {
    IoResult at_client{.status = Status::kWouldBlock}, at_server{.status = Status::kWouldBlock};
    std::byte nowhere{};
    EXPECT_EQ(client.flush().status, Status::kMoved);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    const auto waits = [](const IoResult& io) { return io.status == Status::kWouldBlock; };
    while ((waits(at_client) || waits(at_server)) && std::chrono::steady_clock::now() < end) {
      if (at_server.status == Status::kWouldBlock) at_server = server.read({&nowhere, 1});
      if (at_client.status == Status::kWouldBlock) at_client = client.read({&nowhere, 1});
    }
    return {at_client, at_server};
  }
  void shake_hands() {
    const auto [at_client, at_server] = try_to_shake_hands();
    ASSERT_EQ(at_client.status, Status::kSecured) << at_client.error.message();
    ASSERT_EQ(at_server.status, Status::kSecured) << at_server.error.message();
  }
};

// Writes all of it from one end and reads it at the other, `at_once` octets a read. What was read.
inline std::vector<std::byte> carry(Pipe& from, Pipe& to, Bytes octets, std::size_t at_once) {
  std::vector<std::byte> seen, some(at_once);
  std::size_t written = 0;
  while (seen.size() < octets.size()) {
    if (written < octets.size()) {
      const auto put = write_one(from, octets.subspan(written));
      if (put.status == Status::kLost) return seen;
      written += put.octets;
    }
    const auto got = to.read(some);
    if (got.status == Status::kLost || got.status == Status::kEndOfStream) return seen;
    seen.insert(seen.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got.octets));
  }
  return seen;
}

}  // namespace weft::transport::test
