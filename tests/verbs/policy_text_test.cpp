// SPDX-License-Identifier: Apache-2.0
// Policies written as text: every key, and what the error says of what cannot be.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "verbs/detail/argument_checks.hpp"
#include "verbs/policy_text.hpp"

namespace weft::verbs::test {
namespace {

// docs/drop-in.md, column "default".
TEST(Policy, OfWhoSaysNothing) { EXPECT_EQ(Policy{}.user_timeout, std::chrono::milliseconds(0)) << "the system's"; }

using std::chrono::milliseconds;

Policy parsed(std::string_view text, const Policy& base = {}) {
  const auto policy = parse_policy(text, base);
  EXPECT_TRUE(policy) << text << ": " << policy.error().text;
  return policy.value_or(base);
}

std::string refusal(std::string_view text, const Policy& base = {}) {
  const auto policy = parse_policy(text, base);
  EXPECT_FALSE(policy) << text;
  return policy ? "" : policy.error().text;
}

TEST(PolicyText, NothingChangesNothing) {
  const Policy base{.mpa_revision = 1, .crc = false};
  for (const char* text : {"", "  ", ",", " , ,"}) {
    EXPECT_EQ(parsed(text, base).mpa_revision, 1) << text;
    EXPECT_FALSE(parsed(text, base).crc) << text;
  }
}

TEST(PolicyText, EverySwitch) {
  const std::map<std::string, bool Policy::*> switches = {{"fallback", &Policy::fall_back_to_revision_1},
                                                          {"crc", &Policy::crc},
                                                          {"markers", &Policy::markers},
                                                          {"enhanced", &Policy::enhanced},
                                                          {"peer-to-peer", &Policy::peer_to_peer},
                                                          {"keepalive", &Policy::keepalive}};
  for (const auto& [key, member] : switches) {
    EXPECT_TRUE(parsed(key + "=on").*member) << key;
    EXPECT_FALSE(parsed(key + "=off").*member) << key;
    EXPECT_EQ(refusal(key + "=yes"), key + "=yes: '" + key + "' takes on or off");
  }
}

TEST(PolicyText, EveryTime) {
  const std::map<std::string, milliseconds Policy::*> times = {{"connect-timeout", &Policy::connect_timeout},
                                                               {"startup-timeout", &Policy::startup_timeout},
                                                               {"no-receive-timeout", &Policy::no_receive_timeout},
                                                               {"finish-timeout", &Policy::finish_timeout},
                                                               {"disconnect-timeout", &Policy::disconnect_timeout},
                                                               {"close-timeout", &Policy::close_timeout},
                                                               {"user-timeout", &Policy::user_timeout},
                                                               {"first-fpdu-delay", &Policy::first_fpdu_delay},
                                                               {"connect-retry", &Policy::connect_retry},
                                                               {"fpdu-timeout", &Policy::fpdu_timeout},
                                                               {"idle-timeout", &Policy::idle_timeout},
                                                               {"window-timeout", &Policy::window_timeout}};
  for (const auto& [key, member] : times) {
    EXPECT_EQ(parsed(key + "=1ms").*member, milliseconds(1)) << key;
    EXPECT_EQ(parsed(key + "=10s").*member, milliseconds(10000)) << key;
    EXPECT_EQ(parsed(key + "=2073600s").*member, kMaxTimeout) << key;
    for (const char* bad : {"", "10", "s", "ms", "-1s", "1.5s", "10 s", "10m", "4294967296ms", "x"}) {
      EXPECT_NE(refusal(key + '=' + bad).find(key), std::string::npos) << bad;
    }
    EXPECT_EQ(refusal(key + "=2073601s").find(key + ": "), 0U);
  }
  EXPECT_EQ(parsed("user-timeout=0").user_timeout, milliseconds(0));
  EXPECT_EQ(parsed("fpdu-timeout=0").fpdu_timeout, milliseconds(0));
  EXPECT_EQ(parsed("first-fpdu-delay=0", {.first_fpdu_delay = milliseconds(7)}).first_fpdu_delay, milliseconds(0));
  EXPECT_EQ(refusal("connect-timeout=0"), "connect-timeout: not between 1 ms and 24 days");
}

TEST(PolicyText, NumbersAndWords) {
  EXPECT_EQ(parsed("mpa-rev=1").mpa_revision, 1);
  EXPECT_EQ(parsed("mpa-rev=2", {.mpa_revision = 1}).mpa_revision, 2);
  EXPECT_EQ(parsed("max-ulpdu=1400").max_ulpdu, 1400U);
  EXPECT_EQ(parsed("half-open-per-peer=16").half_open_per_peer, 16U);
  EXPECT_NE(refusal("half-open-per-peer=few").find("takes 0, or a number"), std::string::npos);
  EXPECT_EQ(parsed("connect-rate-per-peer=50").connect_rate_per_peer, 50U);
  EXPECT_EQ(refusal("connect-rate-per-peer=1000001"), "connect-rate-per-peer: more than 1000000");
  EXPECT_EQ(parsed("connections-per-peer=3").connections_per_peer, 3U);
  EXPECT_EQ(parsed("connections-per-listener=4").connections_per_listener, 4U);
  EXPECT_EQ(parsed("connections-per-process=5").connections_per_process, 5U);
  EXPECT_NE(refusal("connections-per-peer=few").find("takes 0, or a number"), std::string::npos);
  EXPECT_EQ(parsed("congestion-control=reno").congestion_control, "reno");
  EXPECT_EQ(parsed("congestion-control=system", {.congestion_control = "reno"}).congestion_control, "");
  EXPECT_NE(refusal("congestion-control=").find("takes system, or a name"), std::string::npos);
  EXPECT_EQ(refusal("congestion-control=none_such"),
            "congestion-control: the system does not have or does not permit this algorithm");
  EXPECT_EQ(parsed("type-of-service=184").type_of_service, 184);
  EXPECT_NE(refusal("type-of-service=256").find("0 to 255"), std::string::npos);
  EXPECT_TRUE(parsed("checked-memory=on").checked_memory);
  EXPECT_FALSE(parsed("early-placement=off").early_placement);
  EXPECT_TRUE(parsed("early-placement=on", {.early_placement = false}).early_placement);
  EXPECT_EQ(parsed("no-receive=terminate").no_receive, NoReceive::kTerminate);
  EXPECT_EQ(parsed("no-receive=stall", {.no_receive = NoReceive::kTerminate}).no_receive, NoReceive::kStall);
  EXPECT_EQ(refusal("mpa-rev=3"), "mpa-rev=3: 'mpa-rev' takes 1 or 2");
  EXPECT_EQ(refusal("max-ulpdu=127"), "max-ulpdu: neither 0 nor between 128 and 64768");
  EXPECT_NE(refusal("max-ulpdu=many").find("max-ulpdu=many"), std::string::npos);
  EXPECT_NE(refusal("no-receive=wait").find("stall or terminate"), std::string::npos);
}

TEST(PolicyText, ReadyToReceiveKinds) {
  EXPECT_EQ(parsed("rtr=none").rtr, RtrTypes(false, false, false));
  EXPECT_EQ(parsed("rtr=send").rtr, RtrTypes(true, false, false));
  EXPECT_EQ(parsed("rtr=write+read").rtr, RtrTypes(false, true, true));
  EXPECT_EQ(parsed("rtr=read+send+write").rtr, RtrTypes(true, true, true));
  for (const char* bad : {"rtr=", "rtr=smoke", "rtr=write+", "rtr=write read", "rtr=none+send"}) {
    EXPECT_NE(refusal(bad).find("'rtr' takes"), std::string::npos) << bad;
  }
}

TEST(PolicyText, AddressesThatMayConnect) {
  const Policy policy = parsed("allow=10.0.0.0/8+2001:db8::/32,deny=10.1.0.0/16");
  EXPECT_EQ(policy.access.allow, parse_prefixes("10.0.0.0/8+2001:db8::/32"));
  EXPECT_EQ(policy.access.deny, parse_prefixes("10.1.0.0/16"));
  EXPECT_TRUE(parsed("allow=all,deny=none", policy).access.empty());
  const Address somebody = Address::parse("192.0.2.1").value();
  EXPECT_FALSE(parsed("allow=none,deny=none", policy).access.admits(somebody));
  EXPECT_TRUE(parsed("allow=192.0.2.1", parsed("allow=none")).access.admits(somebody));
  EXPECT_TRUE(parsed("allow=all", parsed("allow=none")).access.empty());
  for (const char* bad : {"allow=", "deny=10.0.0.0/33", "allow=10.0.0.1/8", "deny=example.org", "deny=all",
                          "deny=::1%lo", "allow=::ffff:192.0.2.1%lo"}) {
    EXPECT_NE(refusal(bad).find("none, or addresses and prefixes such as 10.0.0.0/8"), std::string::npos) << bad;
  }
}

TEST(PolicyText, ManyKeysWithSpaces) {
  const Policy policy = parsed(" mpa-rev = 1 , crc=off,\tmarkers=on , crc=on,");
  EXPECT_EQ(policy.mpa_revision, 1);
  EXPECT_TRUE(policy.markers);
  EXPECT_TRUE(policy.crc) << "the last counts";
}

TEST(PolicyText, UnknownKeysAreNamedWithTheKnownOnes) {
  const std::string text = refusal("crc=off,frobnicate=on");
  EXPECT_EQ(text.find("unknown key 'frobnicate'; the keys are mpa-rev, "), 0U) << text;
  for (const PolicyKey& key : policy_keys()) EXPECT_NE(text.find(key.name), std::string::npos) << key.name;
  EXPECT_EQ(refusal("crc"), "'crc' has no value; it takes on or off");
  EXPECT_EQ(refusal("=on").find("unknown key ''"), 0U);
}

TEST(PolicyText, ContradictionsAreRefused) {
  EXPECT_EQ(refusal("mpa-rev=1,peer-to-peer=on").find("peer-to-peer: needs"), 0U);
  EXPECT_EQ(refusal("peer-to-peer=on", {.mpa_revision = 1}).find("peer-to-peer: needs"), 0U);
  EXPECT_EQ(refusal("peer-to-peer=on,rtr=none").find("rtr: "), 0U);
  EXPECT_TRUE(detail::check(parsed("peer-to-peer=on,rtr=send")));
}

TEST(PolicyText, EveryKeyIsExplained) {
  EXPECT_EQ(policy_keys().size(), 45U) << "one for each member of Policy, two for access, none for tell_stalls_after";
  for (const PolicyKey& key : policy_keys()) {
    EXPECT_FALSE(key.values.empty()) << key.name;
    EXPECT_FALSE(key.meaning.empty()) << key.name;
  }
}

// The files are those of tests/verbs/tls_refusals_test.cpp's concern; here what is off is only read.
TEST(PolicyText, Tls) {
  EXPECT_EQ(parsed("").tls, Tls::kOff);
  const Policy policy = parsed(
      "tls=off,tls-certificate=/a.pem,tls-key=/b.pem,tls-ca=/c.pem,tls-crl=/d.pem,tls-expect=dns:e,"
      "tls-staple=/f.der,tls-require-staple=on,tls-resumption=off,tls-ciphers=a:b,tls-groups=c");
  EXPECT_EQ(policy.tls_certificate, "/a.pem");
  EXPECT_EQ(policy.tls_key, "/b.pem");
  EXPECT_EQ(policy.tls_ca, "/c.pem");
  EXPECT_EQ(policy.tls_crl, "/d.pem");
  EXPECT_EQ(policy.tls_expect, "dns:e");
  EXPECT_EQ(policy.tls_staple, "/f.der");
  EXPECT_EQ(policy.tls_ciphers, "a:b");
  EXPECT_EQ(policy.tls_groups, "c");
  EXPECT_TRUE(policy.tls_require_staple && !parsed("").tls_require_staple);
  EXPECT_TRUE(!policy.tls_resumption && parsed("").tls_resumption);
  EXPECT_EQ(policy.pcap_shows, PcapShows::kEngine);
  EXPECT_EQ(parsed("pcap-shows=wire").pcap_shows, PcapShows::kWire);
  EXPECT_EQ(refusal("pcap-shows=all").find("pcap-shows=all: 'pcap-shows' takes engine or wire"), 0U);
  EXPECT_EQ(parsed("tls-ca=none", policy).tls_ca, "");
  EXPECT_EQ(refusal("tls=on"), "tls=on: 'tls' takes off, accept or require");
  EXPECT_EQ(refusal("tls=require,tls-ca=/nowhere.pem").find("tls-ca: cannot be read"), 0U);
}

TEST(PolicyText, FilesAreNamedFromTheRoot) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(with_absolute_files("crc=off, tls-ca = keys/ca.pem,tls-key=/k.pem,tls-crl=none,tls-expect=dns:a/b"),
            "crc=off,tls-ca=" + here + "/keys/ca.pem,tls-key=/k.pem,tls-crl=none,tls-expect=dns:a/b");
  EXPECT_EQ(with_absolute_files(""), "");
}

}  // namespace
}  // namespace weft::verbs::test
