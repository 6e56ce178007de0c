// SPDX-License-Identifier: Apache-2.0
// Resumption: by a ticket of the same listener, and not when what was trusted has changed.
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tls_ends.hpp"
#include "tls_pem.hpp"
#include "transport/tls/sessions_given.hpp"
#include "transport/tls/tickets.hpp"
#include "transport/tls_facts.hpp"

namespace weft::transport::test {
namespace {

using tls::Settings;
using tls::Tickets;

}  // namespace
}  // namespace weft::transport::test

// OpenSSL's clock: in this program it is this one.
extern "C" time_t time(time_t* also) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const time_t said = now.tv_sec + weft::transport::test::clock_is_ahead_by.count();
  if (also != nullptr) *also = said;
  return said;
}

namespace weft::transport::test {
namespace {

// Connections one after the other, to one listener. Each that was not resumed has left one ticket more.
struct TlsTickets : testing::Test {
  ~TlsTickets() override { clock_is_ahead_by = 0s; }

  const TlsKeys keys{};
  const Port port{};
  Settings client{keys.client()};
  Settings server{keys.server()};

  // Whether it was resumed: both ends say the same.
  bool is_resumed(const Port& at) {
    TlsEnds ends(at.connect(), client, server);
    ends.shake_hands();
    const auto sent = pattern(100);
    EXPECT_EQ(carry(ends.server, ends.client, sent, 100), sent);  // the ticket is before them
    const auto at_client = ends.client.identity(), at_server = ends.server.identity();
    EXPECT_EQ(at_client->resumed, at_server->resumed);
    EXPECT_FALSE(at_client->subject.empty()) << "known from the ticket, too";
    EXPECT_EQ(at_server->subject, "CN=client");
    return at_client->resumed;
  }
  bool is_resumed() { return is_resumed(port); }
};

TEST_F(TlsTickets, ServeTheNextConnection) {
  const TlsCounts before = tls_counts();
  EXPECT_FALSE(is_resumed());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(is_resumed()) << i;
  const TlsCounts after = tls_counts();
  EXPECT_EQ(after.whole - before.whole, 2U) << "both ends are in this process";
  EXPECT_EQ(after.resumed - before.resumed, 6U);
}

TEST_F(TlsTickets, AreOfOneListener) {
  EXPECT_FALSE(is_resumed());
  const Port another;
  EXPECT_FALSE(is_resumed(another)) << "none is shown to a peer that did not give it";
  EXPECT_TRUE(is_resumed(another));
  EXPECT_TRUE(is_resumed());
}

TEST_F(TlsTickets, NoneWhereEitherEndDoesNotWantThem) {
  for (Settings* end : {&client, &server}) {
    end->resumption = false;
    EXPECT_FALSE(is_resumed());
    EXPECT_FALSE(is_resumed());
    end->resumption = true;
  }
}

// A listener whose context is another one has another key: what is shown is of no use, and the handshake goes on.
TEST_F(TlsTickets, EndWithAFileThatChanges) {
  EXPECT_FALSE(is_resumed());
  keys.issue("next", {.common_name = "next"});
  std::filesystem::rename(keys.path("next.pem"), keys.path("server.pem"));
  EXPECT_FALSE(is_resumed());
  EXPECT_TRUE(is_resumed());
  keys.put("next.pem", keys.ca().certificate() + keys.ca().certificate());
  std::filesystem::rename(keys.path("next.pem"), keys.path("ca.pem"));
  EXPECT_FALSE(is_resumed()) << "whom either end trusts";
}

TEST_F(TlsTickets, LiveForAnHour) {
  EXPECT_FALSE(is_resumed());
  clock_is_ahead_by = Tickets::kLifetime - 1min;
  EXPECT_TRUE(is_resumed());
  clock_is_ahead_by += 2min;
  EXPECT_TRUE(is_resumed()) << "each connection leaves a new one";
  clock_is_ahead_by += Tickets::kLifetime + 1min;
  EXPECT_FALSE(is_resumed());
}

// The ticket would be good for longer than the certificate, which ends in half an hour.
TEST_F(TlsTickets, EndWithTheCertificateOfThePeer) {
  clock_is_ahead_by = -24h + 30min;
  keys.issue("short", {.common_name = "client", .valid_until = tls::Authority::Days(1)});
  const Settings shortly = keys.of("short");
  for (Settings* end : {&client, &server}) {
    const Settings before = std::exchange(*end, shortly);
    clock_is_ahead_by = 0s;
    EXPECT_FALSE(is_resumed());
    EXPECT_TRUE(is_resumed());
    clock_is_ahead_by = 31min;
    TlsEnds ends(port.connect(), client, server);
    const auto [at_client, at_server] = ends.try_to_shake_hands();
    const auto expired = tls::of_verification(X509_V_ERR_CERT_HAS_EXPIRED);
    EXPECT_EQ(end == &client ? at_server.error : at_client.error, expired);
    *end = before;
  }
}

// A client may send data before the handshake where its ticket says so. One that lies to itself about that is not heard.
TEST_F(TlsTickets, TakeNoEarlyData) {
  server = {.certificate = keys.path("server.pem")};
  static SSL_SESSION* ticket = nullptr;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT);
  SSL_CTX_sess_set_new_cb(context.get(), [](SSL*, SSL_SESSION* given) {
    ticket = SSL_SESSION_dup(given);
    return 0;
  });
  for (const bool again : {false, true}) {
    auto [peer, socket] = port.connect();
    Pipe pipe(std::move(socket), session(server, tls::Part::kServer));
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), peer.descriptor());
    std::size_t written = 0;
    if (again) {
      ASSERT_EQ(SSL_SESSION_get_max_early_data(ticket), 0U);
      SSL_SESSION_set_max_early_data(ticket, 16'384);
      SSL_set_session(ssl.get(), ticket);
      SSL_SESSION_free(ticket);
      ASSERT_EQ(SSL_write_early_data(ssl.get(), "early", 5, &written), 1);
    }
    SSL_connect(ssl.get());
    std::byte place[16]{};
    becomes_readable(pipe.socket().descriptor());
    EXPECT_EQ(pipe.read(place).status, Status::kWouldBlock);
    becomes_readable(peer.descriptor());
    ASSERT_EQ(SSL_connect(ssl.get()), 1);
    ASSERT_EQ(read_some(pipe, place).status, Status::kSecured);
    EXPECT_EQ(SSL_get_early_data_status(ssl.get()), again ? SSL_EARLY_DATA_REJECTED : SSL_EARLY_DATA_NOT_SENT);
    ASSERT_EQ(SSL_write(ssl.get(), "x", 1), 1);
    EXPECT_EQ(read_some(pipe, place).octets, 1U);
    EXPECT_EQ(place[0], std::byte{'x'});
    becomes_readable(peer.descriptor());  // the ticket
    char none{};
    EXPECT_EQ(SSL_read(ssl.get(), &none, 1), -1);
    ASSERT_NE(ticket, nullptr);
  }
  SSL_SESSION_free(std::exchange(ticket, nullptr));
}

// A client that shows a ticket again, its own or one that it overheard, gets a whole handshake.
TEST_F(TlsTickets, AreTakenOnce) {
  server = {.certificate = keys.path("server.pem")};
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  static SSL_SESSION* first = nullptr;
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT);
  SSL_CTX_sess_set_new_cb(context.get(), [](SSL*, SSL_SESSION* given) {
    if (first == nullptr) first = SSL_SESSION_dup(given);
    return 0;
  });
  for (const bool resumes : {false, true, false}) {
    auto [peer, socket] = port.connect();
    Pipe pipe(std::move(socket), session(server, tls::Part::kServer));
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), peer.descriptor());
    if (const std::unique_ptr<SSL_SESSION, tls::FreeSession> shown(first ? SSL_SESSION_dup(first) : nullptr); shown)
      SSL_set_session(ssl.get(), shown.get());
    SSL_connect(ssl.get());
    std::byte place[16]{};
    becomes_readable(pipe.socket().descriptor());
    EXPECT_EQ(pipe.read(place).status, Status::kWouldBlock);
    becomes_readable(peer.descriptor());
    ASSERT_EQ(SSL_connect(ssl.get()), 1);
    ASSERT_EQ(read_some(pipe, place).status, Status::kSecured);
    EXPECT_EQ(pipe.identity()->resumed, resumes);
    becomes_readable(peer.descriptor());
    char none{};
    EXPECT_EQ(SSL_read(ssl.get(), &none, 1), -1);
    ASSERT_NE(first, nullptr);
  }
  SSL_SESSION_free(std::exchange(first, nullptr));
}

// OpenSSL counts who holds a session: each has to go.
TEST_F(TlsTickets, LeaveNoSessionBehind) {
  static int living = 0;
  const auto born = [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { ++living; };
  const auto gone = [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { --living; };
  static const int index = SSL_SESSION_get_ex_new_index(0, nullptr, born, nullptr, gone);
  ASSERT_GE(index, 0);
  EXPECT_FALSE(is_resumed());
  EXPECT_TRUE(is_resumed());
  const int before = living;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(is_resumed());
  EXPECT_EQ(living, before);
}

TEST(TlsSessionsGiven, AreBounded) {
  using tls::SessionsGiven;
  constexpr std::size_t kOctets = 32;
  const auto number = [](std::size_t i) {
    std::array<unsigned char, kOctets> made{};
    std::memcpy(made.data(), &i, sizeof i);
    return made;
  };
  SessionsGiven given;
  for (std::size_t i = 0; i <= SessionsGiven::kMost; ++i) {
    tls::SessionCopy session(SSL_SESSION_new());
    ASSERT_EQ(SSL_SESSION_set1_id(session.get(), number(i).data(), kOctets), 1);
    given.keep(std::move(session));
  }
  EXPECT_EQ(given.take(number(0)), nullptr) << "the oldest has gone";
  EXPECT_NE(given.take(number(1)), nullptr);
  EXPECT_EQ(given.take(number(1)), nullptr) << "once";
  EXPECT_NE(given.take(number(SessionsGiven::kMost)), nullptr);
  const auto second = number(2);
  EXPECT_EQ(given.take(std::span(second).first(kOctets - 1)), nullptr) << "no number of ours";
}

TEST_F(TlsTickets, AreBounded) {
  std::vector<std::unique_ptr<Port>> ports;
  for (std::size_t i = 0; i <= Tickets::kMost; ++i) {
    ports.push_back(std::make_unique<Port>());
    EXPECT_FALSE(is_resumed(*ports.back()));
  }
  EXPECT_FALSE(is_resumed(*ports.front())) << "the oldest has gone";
  EXPECT_TRUE(is_resumed(*ports.back()));
}

}  // namespace
}  // namespace weft::transport::test
