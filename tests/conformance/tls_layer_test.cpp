// SPDX-License-Identifier: Apache-2.0
// Connections inside TLS, as the trace of RFC 8448 and as OpenSSL makes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "conformance/tls/key_schedule.hpp"
#include "tests/conformance/tls_trace.hpp"
#include "tests/conformance/tls_wire.hpp"
#include "tests/temporary_directory.hpp"

namespace weft::conformance::test {
namespace {

using testing::HasSubstr;

constexpr End kClient = End::kFirst;
constexpr End kServer = End::kSecond;
constexpr std::array kSuites{"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"};

std::vector<Flight> rfc8448_flights() {
  return {{kClient, from_hex(rfc8448::kClientHello)},      {kServer, from_hex(rfc8448::kServerHello)},
          {kServer, from_hex(rfc8448::kServerFlight)},     {kClient, from_hex(rfc8448::kClientFinished)},
          {kServer, from_hex(rfc8448::kNewSessionTicket)}, {kClient, from_hex(rfc8448::kClientData)},
          {kServer, from_hex(rfc8448::kServerData)},       {kClient, from_hex(rfc8448::kClientCloseNotify)},
          {kServer, from_hex(rfc8448::kServerCloseNotify)}};
}

Octets count_to_fifty() {
  Octets octets;
  for (int value = 0; value < 50; ++value) octets.push_back(static_cast<std::byte>(value));
  return octets;
}

std::size_t gaps(const Listener& listener) {
  return static_cast<std::size_t>(std::ranges::count_if(
      listener.others, [](const TcpEvent& event) { return std::holds_alternative<TcpGap>(event); }));
}

// RFC 8448 section 3 against RFC 8446 section 7.3.
TEST(KeySchedule, MakesTheKeysOfRfc8448) {
  const tls::Suite& suite = *tls::find_suite(0x1301);
  const Octets handshake = from_hex(rfc8448::kServerHandshakeSecret), traffic = from_hex(rfc8448::kClientTrafficSecret);
  EXPECT_EQ(tls::expand_label(suite, handshake, "key", 16), from_hex(rfc8448::kServerHandshakeKey));
  EXPECT_EQ(tls::expand_label(suite, handshake, "iv", 12), from_hex(rfc8448::kServerHandshakeIv));
  EXPECT_EQ(tls::expand_label(suite, traffic, "key", 16), from_hex(rfc8448::kClientTrafficKey));
  EXPECT_EQ(tls::expand_label(suite, traffic, "iv", 12), from_hex(rfc8448::kClientTrafficIv));
  EXPECT_EQ(tls::find_suite(0x1304), nullptr);
}

TEST(TlsLayer, ReadsTheTraceOfRfc8448HoweverItIsCut) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
    KeyLog keys = KeyLog::of_text(rfc8448::kKeyLog);
    Listener listener(&keys);
    listener.open();
    listener.hear(rfc8448_flights(), piece);
    listener.end(kClient);
    listener.end(kServer);
    listener.finish();
    EXPECT_EQ(listener.from(kClient), count_to_fifty()) << piece;
    EXPECT_EQ(listener.from(kServer), count_to_fifty()) << piece;
    EXPECT_EQ(listener.hidden(), "");
    EXPECT_EQ(listener.layer.tls()->cipher, "TLS_AES_128_GCM_SHA256");
    // TcpOpened, and the end of each direction; neither segments nor gaps.
    EXPECT_EQ(listener.others.size(), 3U) << piece;
    EXPECT_FALSE(std::get<TcpOpened>(listener.others.front()).mss_of_first);
  }
}

// The octets of a record lie where those in clear are said to be, also where it lies in two packets.
TEST(TlsLayer, OctetsInClearHaveThePlacesOfThoseThatHideThem) {
  KeyLog keys = KeyLog::of_text(rfc8448::kKeyLog);
  Listener listener(&keys);
  auto flights = rfc8448_flights();
  const Octets data = flights[5].octets;
  const auto cut = data.begin() + 5 + 20;
  flights[5].octets = Octets(data.begin(), cut);
  flights.insert(flights.begin() + 6, Flight{kClient, Octets(cut, data.end())});
  listener.hear(flights);
  ASSERT_EQ(listener.runs.size(), 3U);
  EXPECT_EQ(listener.runs[0].place, (Place{6, Listener::kHeaders + 5}));
  EXPECT_EQ(listener.runs[0].size, 20U);
  EXPECT_EQ(listener.runs[1].place, (Place{7, Listener::kHeaders}));
  EXPECT_EQ(listener.runs[1].size, 30U);
  EXPECT_EQ(listener.runs[2].place, (Place{8, Listener::kHeaders + 5}));
}

// Long messages, and new keys in the middle of each direction (RFC 8446 section 4.6.3), twice.
TEST(TlsLayer, ReadsEachCipherAndItsKeyUpdates) {
  for (const char* suite : kSuites) {
    TlsWire wire(suite);
    Octets client, server;
    const auto say = [&](End from, std::size_t size) {
      const Octets text = pattern(size, static_cast<unsigned>(size));
      wire.say(from, text);
      Octets& all = from == kClient ? client : server;
      all.insert(all.end(), text.begin(), text.end());
    };
    say(kClient, 40000);
    for (int round = 0; round < 2; ++round) {
      wire.update_key(kClient);
      say(kClient, 100);
      say(kServer, 20000);
      wire.update_key(kServer);
      say(kServer, 1);
    }
    wire.close(kClient);
    wire.close(kServer);
    for (const std::size_t piece : {std::size_t{13}, std::size_t{1448}, std::size_t{1} << 20}) {
      KeyLog keys = KeyLog::of_text(wire.key_log);
      Listener listener(&keys);
      listener.open();
      listener.hear(wire.flights, piece);
      listener.finish();
      EXPECT_EQ(listener.from(kClient), client) << suite << ' ' << piece;
      EXPECT_EQ(listener.from(kServer), server) << suite << ' ' << piece;
      EXPECT_EQ(listener.hidden(), "") << suite;
      EXPECT_EQ(listener.layer.tls()->cipher, suite);
    }
  }
}

// After its close_notify an end has said all (RFC 8446 section 6.1).
TEST(TlsLayer, NothingCountsBehindCloseNotify) {
  KeyLog keys = KeyLog::of_text(rfc8448::kKeyLog);
  Listener listener(&keys);
  listener.hear(rfc8448_flights());
  listener.hear({kClient, from_hex("170303001400")});
  listener.end(kClient);
  listener.finish();
  EXPECT_EQ(listener.from(kClient), count_to_fifty());
  EXPECT_EQ(listener.hidden(), "");
  EXPECT_EQ(gaps(listener), 0U);
}

TEST(TlsLayer, ARecordThatWasChangedEndsItsDirection) {
  for (const char* suite : kSuites) {
    TlsWire wire(suite);
    const Octets text = pattern(300);
    for (int message = 0; message < 3; ++message) wire.say(kClient, text);
    wire.say(kServer, text);
    const std::size_t changed = wire.flights.size() - 3;  // the second of the client
    wire.flights[changed].octets[100] ^= std::byte{1};
    KeyLog keys = KeyLog::of_text(wire.key_log);
    Listener listener(&keys);
    listener.open();
    listener.hear(wire.flights);
    listener.finish();
    EXPECT_EQ(listener.from(kClient), text) << suite;
    EXPECT_EQ(listener.from(kServer), text) << suite;
    EXPECT_EQ(gaps(listener), 1U);
    EXPECT_THAT(listener.hidden(),
                HasSubstr("the tag of the record at packet " + std::to_string(changed + 1) + " does"));
    EXPECT_TRUE(listener.layer.tls()->keyed);
  }
}

TEST(TlsLayer, AWrongSecretIsToldAsSuch) {
  std::string text(rfc8448::kKeyLog);
  text[text.find("9e40646c")] = '8';  // the client's, of the application
  KeyLog keys = KeyLog::of_text(text);
  Listener listener(&keys);
  listener.hear(rfc8448_flights());
  EXPECT_TRUE(listener.from(kClient).empty());
  EXPECT_EQ(listener.from(kServer), count_to_fifty());
  EXPECT_THAT(listener.hidden(),
              HasSubstr("at packet 6 does not verify: its octets were changed, or the key log has a wrong"));
}

TEST(TlsLayer, OctetsThatTheCaptureLostEndTheirDirection) {
  KeyLog keys = KeyLog::of_text(rfc8448::kKeyLog);
  Listener listener(&keys);
  const auto flights = rfc8448_flights();
  for (std::size_t flight = 0; flight < 5; ++flight) listener.hear(flights[flight]);
  listener.lose(kClient, flights[5].octets.size());
  for (std::size_t flight = 6; flight < flights.size(); ++flight) listener.hear(flights[flight]);
  EXPECT_TRUE(listener.from(kClient).empty());
  EXPECT_EQ(listener.from(kServer), count_to_fifty());
  EXPECT_EQ(gaps(listener), 1U);
  EXPECT_EQ(listener.hidden(), "at packet 6 octets are missing in the capture");
}

TEST(TlsLayer, ADirectionThatEndsInsideARecordSaysSo) {
  KeyLog keys = KeyLog::of_text(rfc8448::kKeyLog);
  Listener listener(&keys);
  auto flights = rfc8448_flights();
  flights.resize(6);
  flights[5].octets.pop_back();
  listener.hear(flights);
  listener.end(kClient);
  EXPECT_EQ(gaps(listener), 1U);
  EXPECT_EQ(listener.hidden(), "at packet 6 the connection ends inside a record");
}

// What is not there is named.
TEST(TlsLayer, SaysWhyItHasNoKeys) {
  const auto flights = rfc8448_flights();
  const auto why = [&](KeyLog* keys, std::size_t first, std::size_t last) {
    Listener listener(keys);
    listener.open(first == 0);
    for (std::size_t flight = first; flight < last; ++flight) listener.hear(flights[flight]);
    listener.finish();
    EXPECT_TRUE(listener.from(kClient).empty() && listener.from(kServer).empty());
    EXPECT_FALSE(listener.layer.tls()->keyed);
    return listener.hidden();
  };
  KeyLog others = KeyLog::of_text("CLIENT_RANDOM " + std::string(64, '0') + ' ' + std::string(64, '1'));
  KeyLog full = KeyLog::of_text(rfc8448::kKeyLog);
  EXPECT_EQ(why(nullptr, 0, flights.size()), "no key log was given (--keylog)");
  EXPECT_THAT(why(&others, 0, flights.size()),
              HasSubstr("lacks secrets of its client for the client random cb34ecb1e781"));
  EXPECT_EQ(why(&full, 1, flights.size()), "its ClientHello is not in the capture");
  EXPECT_EQ(why(&full, 4, flights.size()), "its ClientHello is not in the capture");
  Listener without_server_hello(&full);
  without_server_hello.hear(flights[0]);
  without_server_hello.hear(flights[3]);
  without_server_hello.finish();
  EXPECT_EQ(without_server_hello.hidden(), "its ServerHello is not in the capture");
}

TEST(TlsLayer, OtherVersionsAndCiphersAreNamed) {
  TlsWire old(nullptr);
  old.say(kClient, pattern(100));
  KeyLog of_old = KeyLog::of_text(old.key_log);
  Listener listener(&of_old);
  listener.hear(old.flights);
  EXPECT_EQ(listener.hidden(), "it is TLS 1.2 or older");

  KeyLog keys = KeyLog::of_text(rfc8448::kKeyLog);
  auto flights = rfc8448_flights();
  constexpr std::size_t kSuiteAt = 5 + 4 + 2 + 32 + 1;  // in a record with a ServerHello without session id
  flights[1].octets[kSuiteAt + 1] = std::byte{4};
  Listener other(&keys);
  other.hear(flights);
  EXPECT_EQ(other.hidden(), "its cipher suite 0x1304 is not known here");
  flights[1].octets[kSuiteAt + 1] = std::byte{2};
  Listener longer(&keys);
  longer.hear(flights);
  EXPECT_EQ(longer.hidden(), "the key log has a secret of 32 octets for TLS_AES_256_GCM_SHA384");
}

// Octets that wait for a secret are bounded.
TEST(TlsLayer, WaitsForSecretsNoLongerThanItsBound) {
  TlsWire wire(kSuites[0]);
  for (int message = 0; message < 4; ++message) wire.say(kServer, pattern(16000));
  KeyLog others = KeyLog::of_text(rfc8448::kKeyLog);
  Listener listener(&others);
  listener.hear(wire.flights);
  EXPECT_THAT(listener.hidden(), HasSubstr("the key log lacks secrets"));
}

// A program that runs writes its secrets a little later than it sends.
TEST(TlsLayer, SecretsMayComeLate) {
  const weft::test::TemporaryDirectory directory;
  const auto path = directory.path() / "keys";
  std::ofstream file(path);
  auto keys = KeyLog::open(path);
  ASSERT_TRUE(keys) << keys.error();
  EXPECT_TRUE(keys->empty());
  Listener listener(&*keys);
  const auto flights = rfc8448_flights();
  for (std::size_t flight = 0; flight < flights.size(); ++flight) {
    if (flight == 4) file << rfc8448::kKeyLog.substr(0, 200) << std::flush;
    if (flight == 6) file << rfc8448::kKeyLog.substr(200) << std::flush;
    listener.hear(flights[flight]);
  }
  listener.finish();
  EXPECT_EQ(listener.from(kClient), count_to_fifty());
  EXPECT_EQ(listener.from(kServer), count_to_fifty());
  EXPECT_EQ(listener.hidden(), "");
}

// Octet by octet and at once: all events as they were.
TEST(TlsLayer, LeavesOthersAlone) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4}, std::size_t{100}}) {
    KeyLog keys = KeyLog::of_text(rfc8448::kKeyLog);
    Listener listener(&keys);
    listener.open();
    for (const char* text : {"MPA ID Req Frame", "and so on"}) listener.hear({kClient, octets(text)}, piece);
    listener.hear({kServer, octets("MPA ID Rep Frame")}, piece);
    listener.lose(kServer, 4);
    listener.end(kClient);
    listener.finish();
    EXPECT_EQ(listener.layer.tls(), nullptr);
    EXPECT_EQ(listener.from(kClient), octets("MPA ID Req Frameand so on"));
    EXPECT_EQ(listener.from(kServer), octets("MPA ID Rep Frame"));
    ASSERT_EQ(listener.others.size(), 6U);  // opened, three segments, gap, end
    EXPECT_EQ(std::get<TcpOpened>(listener.others.front()).mss_of_first, 1460);
  }
}

TEST(TlsLayer, AnFpduThatBeginsLikeARecordIsNone) {
  Listener listener(nullptr);
  listener.open(false);
  listener.hear({kClient, from_hex("1603014400000001")});  // ULPDU length 0x1603, DDP version 1, an RDMAP Send
  listener.hear({kServer, octets("MPA")});                 // less than tells
  listener.finish();
  EXPECT_EQ(listener.layer.tls(), nullptr);
  EXPECT_EQ(listener.from(kClient).size(), 8U);
}

TEST(KeyLog, PassesOverWhatItDoesNotKnow) {
  std::string text = "# comment\n\nSOMETHING else\nCLIENT_TRAFFIC_SECRET_0 abc def\n" + std::string(5000, 'x') + '\n';
  EXPECT_TRUE(KeyLog::of_text(text).empty());
  std::string with_returns;
  for (const char c : rfc8448::kKeyLog) with_returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
  KeyLog keys = KeyLog::of_text(text + with_returns);
  EXPECT_FALSE(keys.empty());
  ClientRandom random{};
  EXPECT_EQ(keys.find(random), nullptr);
  std::ranges::copy(from_hex("cb34ecb1e78163ba1c38c6dacb196a6dffa21a8d9912ec18a2ef6283024dece7"), random.begin());
  ASSERT_NE(keys.find(random), nullptr);
  EXPECT_EQ(keys.find(random)->client.traffic, from_hex(rfc8448::kClientTrafficSecret));
}

// Those of a capture, beside a file whose last line is not complete.
TEST(KeyLog, TakesSecretsFromElsewhere) {
  KeyLog keys = KeyLog::of_text("");
  EXPECT_TRUE(keys.absent());
  keys.add(rfc8448::kKeyLog);
  EXPECT_FALSE(keys.absent());
  Listener listener(&keys);
  listener.hear(rfc8448_flights());
  EXPECT_EQ(listener.from(kClient), count_to_fifty());
  EXPECT_EQ(listener.from(kServer), count_to_fifty());
}

TEST(KeyLog, IsAbsentWhereNobodyGaveOne) {
  KeyLog none = KeyLog::of_text("");
  Listener listener(&none);
  listener.hear(rfc8448_flights());
  EXPECT_EQ(listener.hidden(), "no key log was given (--keylog)");
}

// A pipe is read to its end, or as far as it is written; a switch ends the wait.
TEST(KeyLog, OfAPipe) {
  const weft::test::TemporaryDirectory directory;
  const auto path = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  StopSwitch stop;
  stop.stop();
  const auto stopped = KeyLog::open(path, {.stop = &stop});
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error(), HasSubstr("was not read: the interrupt came before its end"));
  auto growing = KeyLog::open(path, {.grows = true});
  ASSERT_TRUE(growing) << growing.error();
  EXPECT_TRUE(growing->empty());
  {
    std::ofstream writer(path);
    writer << rfc8448::kKeyLog << std::flush;
    EXPECT_EQ(growing->find({}), nullptr);
    EXPECT_FALSE(growing->empty());
  }
  std::ofstream(path) << rfc8448::kKeyLog;  // `growing` still holds the pipe's other end
  const auto written = KeyLog::open(path);
  ASSERT_TRUE(written) << written.error();
  EXPECT_FALSE(written->empty()) << "its writer had closed it before";
  std::thread writer([&path] { std::ofstream(path) << rfc8448::kKeyLog; });
  const auto whole = KeyLog::open(path);
  writer.join();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_FALSE(whole->empty());
}

TEST(KeyLog, NamesAFileThatCannotBeRead) {
  EXPECT_EQ(KeyLog::open("/no/such/keys").error(), "cannot read /no/such/keys: No such file or directory");
  EXPECT_EQ(KeyLog::open("/").error(), "cannot read /: Is a directory");
  const auto endless = KeyLog::open("/dev/zero");
  EXPECT_TRUE(endless && endless->empty());
}

}  // namespace
}  // namespace weft::conformance::test
