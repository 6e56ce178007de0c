// SPDX-License-Identifier: Apache-2.0
// A pipe with TLS: what it carries, what it holds and says so, and what it makes of an end.
#include "transport/pipe.hpp"

#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <array>
#include <cstring>
#include <string_view>

#include "tls_ends.hpp"

namespace weft::transport::test {
namespace {

using tls::Fault;
using tls::Part;

std::size_t octets_in(const Socket& socket) {
  int octets = 0;
  EXPECT_EQ(::ioctl(socket.descriptor(), FIONREAD, &octets), 0);
  return static_cast<std::size_t>(octets);
}

// Until the other end's socket has all that was sent to it: over loopback at once, when TCP has nothing unsent.
void wait_for_octets(const Socket& socket, std::size_t at_least) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (octets_in(socket) < at_least && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  ASSERT_GE(octets_in(socket), at_least);
}

TEST(PlainPipe, IsItsSocket) {
  auto [one, other] = connected_pair();
  Pipe pipe(std::move(one)), peer(std::move(other));
  EXPECT_TRUE(pipe.takes_octets());
  const auto sent = pattern(100);
  EXPECT_EQ(write_one(pipe, sent).octets, 100U);
  std::vector<std::byte> first(60), second(60);
  becomes_readable(peer.socket().descriptor());
  EXPECT_EQ(peer.read(first, second).octets, 100U);
  EXPECT_FALSE(peer.holds());
  EXPECT_FALSE(peer.has_output());
  EXPECT_FALSE(peer.identity());
  pipe.shutdown_write();
  EXPECT_EQ(read_some(peer, first).status, Status::kEndOfStream);
  EXPECT_FALSE(peer.failure().tls);
}

TEST(TlsPipe, CarriesOctetsInPiecesOfAnySize) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto sent = pattern(300'000);
  for (const std::size_t at_once :
       {std::size_t{7000}, std::size_t{16384}, std::size_t{100'000}, std::size_t{400'000}}) {
    EXPECT_TRUE(std::ranges::equal(carry(ends.client, ends.server, sent, at_once), sent)) << at_once;
    EXPECT_TRUE(std::ranges::equal(carry(ends.server, ends.client, sent, at_once), sent)) << at_once;
  }
}

TEST(TlsPipe, JoinsPiecesOfOneWrite) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto sent = pattern(60'000);
  std::vector<Bytes> pieces;
  const std::array<std::size_t, 6> sizes{1, 20'000, 30, 16'384, 5, 23'580};
  std::size_t at = 0;
  for (const std::size_t size : sizes) pieces.push_back(Bytes(sent).subspan(std::exchange(at, at + size), size));
  ASSERT_EQ(at, sent.size());
  EXPECT_EQ(ends.client.write(pieces).octets, sent.size());
  std::vector<std::byte> seen(sent.size());
  for (std::size_t got = 0; got < seen.size();) {
    const auto io = read_some(ends.server, MutableBytes(seen).subspan(got));
    ASSERT_EQ(io.status, Status::kMoved);
    got += io.octets;
  }
  EXPECT_EQ(seen, sent);
}

TEST(TlsPipe, TellsWhoThePeerIs) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto server = ends.client.identity(), client = ends.server.identity();
  ASSERT_TRUE(server && client);
  EXPECT_EQ(server->subject, "CN=server");
  EXPECT_EQ(server->names, (std::vector<std::string>{"dns:server.example", "ip:127.0.0.1", "uri:weft://server"}));
  EXPECT_EQ(server->fingerprint.size(), std::string_view("sha256:").size() + 64);
  EXPECT_EQ(client->subject, "CN=client");
  EXPECT_TRUE(client->cipher.starts_with("TLS_")) << client->cipher;
}

// Nothing above would look at the socket again: it is empty.
TEST(TlsPipe, HoldsWhatTheSocketDoesNotShow) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto sent = pattern(20'000);
  ASSERT_EQ(write_one(ends.client, sent).octets, sent.size());
  wait_for_octets(ends.server.socket(), sent.size());
  std::vector<std::byte> seen(sent.size());
  const auto front = ends.server.read(MutableBytes(seen).first(10));
  ASSERT_EQ(front.octets, 10U);
  EXPECT_EQ(octets_in(ends.server.socket()), 0U);
  EXPECT_TRUE(ends.server.holds());
  const auto more = pattern(1000, 7);
  ASSERT_EQ(write_one(ends.client, more).octets, more.size());
  wait_for_octets(ends.server.socket(), more.size());
  {
    const Pipe::Inside inside(ends.server);
    std::vector<std::byte> place(sent.size() + more.size());
    const auto rest = ends.server.read(place);
    EXPECT_EQ(rest.octets, sent.size() - 10);
    EXPECT_TRUE(std::ranges::equal(Bytes(place).first(rest.octets), Bytes(sent).subspan(10)));
    EXPECT_FALSE(ends.server.holds());
    EXPECT_GE(octets_in(ends.server.socket()), more.size()) << "it is left to the socket";
  }
  std::vector<std::byte> place(more.size());
  EXPECT_EQ(read_some(ends.server, place).octets, more.size());
  EXPECT_EQ(place, more);
}

TEST(TlsPipe, ARecordIsNotToldBeforeItIsWhole) {
  const TlsKeys keys;
  auto [client_socket, relay_in] = connected_pair();
  auto [relay_out, server_socket] = connected_pair();
  Pipe client(std::move(client_socket), session(keys.client(), Part::kClient));
  Pipe server(std::move(server_socket), session(keys.server(), Part::kServer));
  std::vector<std::byte> seen(100);
  const auto relay = [](Socket& from, Socket& to, bool octet_by_octet, auto&& behind_each) {
    std::vector<std::byte> some(1 << 16);
    for (auto io = from.read(some); io.status == Status::kMoved; io = from.read(some)) {
      const std::size_t step = octet_by_octet ? 1 : io.octets;
      for (std::size_t at = 0; at < io.octets; at += step) {
        ASSERT_EQ(write_one(to, Bytes(some).subspan(at, step)).octets, step);
        behind_each(at + step == io.octets);
      }
    }
  };
  ASSERT_EQ(client.flush().status, Status::kMoved);
  bool client_secured = false, server_secured = false;
  for (int turn = 0; turn < 4; ++turn) {  // the whole handshake, octet by octet
    relay(relay_in, relay_out, true, [&](bool) { server_secured |= server.read(seen).status == Status::kSecured; });
    relay(relay_out, relay_in, true, [&](bool) { client_secured |= client.read(seen).status == Status::kSecured; });
  }
  ASSERT_TRUE(client_secured && server_secured);
  const auto sent = pattern(seen.size());
  ASSERT_EQ(write_one(client, sent).octets, sent.size());
  IoResult last;
  relay(relay_in, relay_out, true, [&](bool whole) {
    becomes_readable(server.socket().descriptor());
    last = server.read(seen);
    EXPECT_EQ(last.status, whole ? Status::kMoved : Status::kWouldBlock);
    EXPECT_FALSE(server.holds()) << "half a record is nothing to come back for";
    EXPECT_EQ(server.holds_part(), !whole);
  });
  EXPECT_EQ(seen, sent);
}

// Octets are written when the socket has all of their records; until then they are offered again, perhaps from elsewhere.
TEST(TlsPipe, TellsNoOctetThatTheSocketDidNotTake) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto all = pattern(24 << 20);  // more than the system lets both sockets hold
  std::size_t written = 0;
  IoResult io;
  do {
    io = write_one(ends.client, Bytes(all).subspan(written));
    written += io.octets;
  } while (io.status == Status::kMoved && written < all.size());
  ASSERT_EQ(io.status, Status::kWouldBlock);
  EXPECT_TRUE(ends.client.has_output());
  std::vector<std::byte> seen, some(50'000);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (seen.size() < all.size() && std::chrono::steady_clock::now() < end) {
    const auto front = Bytes(all).subspan(written, std::min<std::size_t>(100'000, all.size() - written));
    const std::vector<std::byte> elsewhere(front.begin(), front.end());
    if (!elsewhere.empty() && ends.client.socket().is_ready(false, true)) {
      const auto more = write_one(ends.client, elsewhere);
      ASSERT_NE(more.status, Status::kLost);
      written += more.octets;
    }
    for (auto got = ends.server.read(some); got.status == Status::kMoved; got = ends.server.read(some)) {
      seen.insert(seen.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got.octets));
    }
  }
  EXPECT_EQ(written, all.size());
  EXPECT_EQ(seen, all);
}

// Records that wait here go with the connection.
TEST(TlsPipe, AResetEndsWhatWaits) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto all = pattern(1 << 20);
  IoResult io;
  do {
    io = write_one(ends.client, all);
  } while (io.status == Status::kMoved);
  ASSERT_EQ(io.status, Status::kWouldBlock);
  ASSERT_TRUE(ends.client.has_output());
  ends.server.reset();
  becomes_readable(ends.client.socket().descriptor());
  EXPECT_EQ(ends.client.flush().status, Status::kLost);
  EXPECT_EQ(write_one(ends.client, all).status, Status::kLost);
}

// Else the end of the handshake would be told to a thread that did not ask.
TEST(TlsPipe, AFlushReadsNothing) {
  const TlsKeys keys;
  auto [socket, peer] = connected_pair();
  Pipe client(std::move(socket), session(keys.client(), Part::kClient));
  const auto answer = pattern(10);
  ASSERT_EQ(write_one(peer, answer).octets, answer.size());
  wait_for_octets(client.socket(), answer.size());
  EXPECT_EQ(client.flush().status, Status::kMoved);
  EXPECT_FALSE(client.has_output());
  EXPECT_EQ(octets_in(client.socket()), answer.size());
}

// --- Ends

TEST(TlsPipe, CloseNotifyIsTheEndOfTheStream) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto sent = pattern(100);
  ASSERT_EQ(write_one(ends.client, sent).octets, sent.size());
  ends.client.shutdown_write();
  becomes_readable(ends.server.socket().descriptor());
  wait_for_octets(ends.server.socket(), sent.size() + 5 + 17 + 24);
  std::vector<std::byte> seen(sent.size());
  EXPECT_EQ(ends.server.read(seen).octets, sent.size());
  EXPECT_TRUE(ends.server.holds()) << "the end lies after them, and the socket may not show it";
  EXPECT_EQ(ends.server.read(seen).status, Status::kEndOfStream);
  EXPECT_FALSE(ends.server.holds());
  EXPECT_FALSE(ends.server.failure().tls);
  EXPECT_EQ(write_one(ends.server, sent).octets, sent.size()) << "the other direction goes on";
  EXPECT_EQ(read_some(ends.client, seen).octets, sent.size());
}

TEST(TlsPipe, OctetsBeforeAnEndAreToldBeforeTheEnd) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto sent = pattern(100);
  ASSERT_EQ(write_one(ends.client, sent).octets, sent.size());
  ends.client.shutdown_write();
  wait_for_octets(ends.server.socket(), sent.size() + 5 + 17 + 24);
  std::vector<std::byte> seen(2 * sent.size());
  EXPECT_EQ(ends.server.read(seen).octets, sent.size());
  EXPECT_TRUE(ends.server.holds());
  EXPECT_EQ(ends.server.read(seen).status, Status::kEndOfStream);
}

TEST(TlsPipe, AFinWithoutCloseNotifyIsNoEndOfTheStream) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  ends.client.socket().shutdown_write();
  std::byte place{};
  const auto io = read_some(ends.server, {&place, 1});
  EXPECT_EQ(io.status, Status::kLost);
  EXPECT_EQ(io.error, make_error_code(Fault::kTruncated));
  EXPECT_EQ(ends.server.failure().tls, io.error);
  EXPECT_NE(io.error.message().find("close_notify"), std::string::npos);
}

TEST(TlsPipe, TheFinWaitsForCloseNotify) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const auto all = pattern(24 << 20);  // more than the system lets both sockets hold
  std::size_t written = 0;
  IoResult io;
  do {
    io = write_one(ends.client, Bytes(all).subspan(written));
    written += io.octets;
  } while (io.status == Status::kMoved && written < all.size());
  ASSERT_EQ(io.status, Status::kWouldBlock);
  ends.client.shutdown_write();
  EXPECT_TRUE(ends.client.has_output());
  std::vector<std::byte> some(100'000);
  IoResult got;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (got.status != Status::kEndOfStream && std::chrono::steady_clock::now() < end) {
    if (ends.client.has_output() && ends.client.socket().is_ready(false, true)) static_cast<void>(ends.client.flush());
    got = ends.server.read(some);
    ASSERT_NE(got.status, Status::kLost) << got.error.message();
  }
  EXPECT_EQ(got.status, Status::kEndOfStream);
  EXPECT_TRUE(ends.server.socket().peer_has_closed());
}

TEST(TlsPipe, AChangedOctetEndsIt) {
  const TlsKeys keys;
  TlsEnds ends(keys);
  const std::array<std::byte, 30> forged{std::byte{0x17}, std::byte{3}, std::byte{3}, std::byte{0}, std::byte{25}};
  ASSERT_EQ(test::write_one(ends.client.socket(), forged).octets, forged.size());
  std::byte place{};
  const auto io = read_some(ends.server, {&place, 1});
  EXPECT_EQ(io.status, Status::kLost);
  EXPECT_TRUE(ends.server.failure().tls);
  const auto told = read_some(ends.client, {&place, 1});
  EXPECT_EQ(told.error, tls::of_alert(20)) << "bad_record_mac: " << told.error.message();
}

// --- Peers without TLS

constexpr std::string_view kRequest = "MPA ID Req Frame";
const Bytes kPlain = std::as_bytes(std::span(kRequest));

TEST(TlsPipe, ARequiringServerRefusesPlainPeersAndShowsThemWhy) {
  const TlsKeys keys;
  auto [peer, socket] = connected_pair();
  Pipe server(std::move(socket), session(keys.server(), Part::kServer));
  std::array<std::byte, 100> place{};
  EXPECT_EQ(server.read(place).status, Status::kWouldBlock);
  ASSERT_EQ(write_one(peer, kPlain).octets, kPlain.size());
  const auto io = read_some(server, place);
  EXPECT_EQ(io.status, Status::kLost);
  EXPECT_EQ(io.error, make_error_code(Fault::kSpeaksNoTls));
  const auto answer = read_patiently(peer, place);
  EXPECT_TRUE(tls::looks_like_tls(Bytes(place).first(answer.octets)));
}

TEST(TlsPipe, AnAcceptingServerTakesBoth) {
  const TlsKeys keys;
  auto [peer, socket] = connected_pair();
  Pipe server(std::move(socket), session(keys.server(), Part::kServerIfAsked));
  std::array<std::byte, 100> place{};
  EXPECT_EQ(server.read(place).status, Status::kWouldBlock);
  EXPECT_FALSE(server.takes_octets());
  ASSERT_EQ(write_one(peer, kPlain).octets, kPlain.size());
  const auto io = read_some(server, place);
  EXPECT_EQ(io.octets, kPlain.size());
  EXPECT_TRUE(std::ranges::equal(Bytes(place).first(io.octets), kPlain));
  EXPECT_TRUE(server.takes_octets());
  EXPECT_FALSE(server.identity());

  TlsEnds ends(keys.client(), keys.server(), Part::kServerIfAsked);
  ends.shake_hands();
  EXPECT_TRUE(ends.server.identity());
}

TEST(TlsPipe, AClientKnowsAPlainServer) {
  const TlsKeys keys;
  std::array<std::byte, 600> place{};
  for (const bool answers : {true, false}) {
    auto [socket, peer] = connected_pair();
    Pipe client(std::move(socket), session(keys.client(), Part::kClient));
    EXPECT_TRUE(client.has_output());
    ASSERT_EQ(client.flush().status, Status::kMoved);
    const auto hello = read_patiently(peer, place);
    EXPECT_TRUE(tls::looks_like_tls(Bytes(place).first(hello.octets)));
    if (answers) {
      ASSERT_EQ(write_one(peer, kPlain).octets, kPlain.size());
    } else {
      peer.shutdown_write();
    }
    const auto io = read_some(client, place);
    EXPECT_EQ(io.error, make_error_code(answers ? Fault::kSpeaksNoTls : Fault::kEndedEarly)) << io.error.message();
  }
}

}  // namespace
}  // namespace weft::transport::test
