// SPDX-License-Identifier: Apache-2.0
// Policies written as text: the table of keys, what each kind of value accepts, and what errors say.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ranges>
#include <string>

#include "verbs/base/policy_table.hpp"
#include "verbs/objects/argument_checks.hpp"
#include "verbs/policy_text.hpp"

namespace weft::verbs::test {
namespace {

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
  const Policy base{.startup = {.mpa_revision = 1, .crc = false}};
  for (const char* text : {"", "  ", ",", " , ,"}) {
    EXPECT_EQ(parsed(text, base).startup.mpa_revision, 1) << text;
    EXPECT_FALSE(parsed(text, base).startup.crc) << text;
  }
}

// Keys whose values are described by these words.
auto keys_of(std::string_view values) {
  return policy_keys() | std::views::filter([=](const PolicyKey& key) { return key.values.ends_with(values); });
}

// "policy.timeouts.connect" has the key "connect-timeout".
TEST(PolicyTable, AKeyHasTheNameOfItsMember) {
  const std::map<std::string_view, std::string> others{{"mpa-rev", "mpa-revision"},
                                                       {"fallback", "fall-back-to-revision-1"},
                                                       {"allow", "access"},
                                                       {"deny", "access"},
                                                       {"tls", "mode"}};
  for (const detail::PolicyRow& row : detail::policy_rows()) {
    std::string member(row.argument.substr(row.argument.rfind('.') + 1));
    std::ranges::replace(member, '_', '-');
    const bool tls = row.argument.starts_with("policy.tls.") && member != "pcap-shows" && row.key.name != "tls";
    const bool time = row.argument.starts_with("policy.timeouts.") && row.key.name.ends_with("-timeout");
    const auto other = others.find(row.key.name);
    const std::string name = (tls ? "tls-" : "") + member + (time ? "-timeout" : "");
    if (row.key.name.empty()) {
      EXPECT_TRUE(member == "tell-stalls-after" || member == "timewait") << member;
    } else {
      EXPECT_EQ(other == others.end() ? row.key.name : other->second, other == others.end() ? name : member);
    }
  }
}

TEST(PolicyTable, AKeyChangesItsMemberAlone) {
  for (const detail::PolicyRow& row : detail::policy_rows()) {
    if (row.key.name.empty()) continue;
    Policy changed;
    bool found = false;
    for (const char* value :
         {"on", "off", "1", "7ms", "7", "send", "terminate", "10.0.0.0/8", "require", "wire", "x"}) {
      changed = {};
      found = row.set(changed, value) && row.key.text(changed) == value && row.key.text({}) != value;
      if (found) break;
    }
    EXPECT_TRUE(found) << row.key.name;
    for (const PolicyKey& key : policy_keys())
      EXPECT_EQ(key.text(changed) != key.text({}), key.name == row.key.name) << row.key.name << " and " << key.name;
  }
}

TEST(PolicyTable, DefaultsAreValues) {
  for (const PolicyKey& key : policy_keys()) {
    const std::string text = key.text({});
    EXPECT_EQ(key.text(parsed(std::string(key.name) + '=' + text)), text) << key.name;
  }
}

TEST(PolicyText, EverySwitch) {
  for (const PolicyKey& key : keys_of("on or off")) {
    const std::string name(key.name);
    EXPECT_EQ(key.text(parsed(name + "=on")), "on") << name;
    EXPECT_EQ(key.text(parsed(name + "=off")), "off") << name;
    EXPECT_EQ(refusal(name + "=yes"), name + "=yes: '" + name + "' takes on or off");
  }
}

TEST(PolicyText, EveryTime) {
  for (const PolicyKey& key : keys_of("a time such as 500ms or 10s")) {
    const std::string name(key.name);
    EXPECT_EQ(key.text(parsed(name + "=1ms")), "1ms") << name;
    EXPECT_EQ(key.text(parsed(name + "=10000ms")), "10s") << name;
    EXPECT_EQ(key.text(parsed(name + "=2073600s")), "2073600s") << name;
    for (const char* bad : {"", "10", "s", "ms", "-1s", "1.5s", "10 s", "10m", "4294967296ms", "x"}) {
      EXPECT_NE(refusal(name + '=' + bad).find(name), std::string::npos) << bad;
    }
    EXPECT_EQ(refusal(name + "=2073601s").find(name + ": "), 0U);
    if (key.values.starts_with("0, or")) {
      EXPECT_EQ(key.text(parsed(name + "=0")), "0") << name;
    } else {
      EXPECT_EQ(refusal(name + "=0"), name + ": not between 1 ms and 24 days");
    }
  }
  EXPECT_EQ(parsed("user-timeout=0").timeouts.user, milliseconds(0));
  EXPECT_EQ(parsed("close-timeout=2s").timeouts.close, milliseconds(2000));
}

TEST(PolicyText, NumbersAndWords) {
  EXPECT_EQ(parsed("mpa-rev=1").startup.mpa_revision, 1);
  EXPECT_EQ(parsed("mpa-rev=2", {.startup = {.mpa_revision = 1}}).startup.mpa_revision, 2);
  EXPECT_EQ(parsed("max-ulpdu=1400").startup.max_ulpdu, 1400U);
  EXPECT_EQ(parsed("half-open-per-peer=16").admission.half_open_per_peer, 16U);
  EXPECT_NE(refusal("half-open-per-peer=few").find("takes 0, or a number"), std::string::npos);
  EXPECT_EQ(parsed("connect-rate-per-peer=50").admission.connect_rate_per_peer, 50U);
  EXPECT_EQ(refusal("connect-rate-per-peer=1000001"), "connect-rate-per-peer: more than 1000000");
  EXPECT_EQ(parsed("connections-per-peer=3").admission.connections_per_peer, 3U);
  EXPECT_EQ(parsed("connections-per-listener=4").admission.connections_per_listener, 4U);
  EXPECT_EQ(parsed("connections-per-process=5").admission.connections_per_process, 5U);
  EXPECT_NE(refusal("connections-per-peer=few").find("takes 0, or a number"), std::string::npos);
  EXPECT_EQ(parsed("congestion-control=reno").startup.congestion_control, "reno");
  EXPECT_EQ(parsed("congestion-control=system", {.startup = {.congestion_control = "reno"}}).startup.congestion_control,
            "");
  EXPECT_NE(refusal("congestion-control=").find("takes system, or a name"), std::string::npos);
  EXPECT_EQ(refusal("congestion-control=none_such"),
            "congestion-control: the system does not have or does not permit this algorithm");
  EXPECT_EQ(parsed("type-of-service=184").startup.type_of_service, 184);
  EXPECT_NE(refusal("type-of-service=256").find("0 to 255"), std::string::npos);
  EXPECT_TRUE(parsed("checked-memory=on").startup.checked_memory);
  EXPECT_FALSE(parsed("early-placement=off").startup.early_placement);
  EXPECT_TRUE(parsed("early-placement=on", {.startup = {.early_placement = false}}).startup.early_placement);
  EXPECT_EQ(parsed("no-receive=terminate").startup.no_receive, NoReceive::kTerminate);
  EXPECT_EQ(parsed("no-receive=stall", {.startup = {.no_receive = NoReceive::kTerminate}}).startup.no_receive,
            NoReceive::kStall);
  EXPECT_EQ(refusal("mpa-rev=3"), "mpa-rev=3: 'mpa-rev' takes 1 or 2");
  EXPECT_EQ(refusal("max-ulpdu=127"), "max-ulpdu: neither 0 nor between 128 and 64768");
  EXPECT_NE(refusal("max-ulpdu=many").find("max-ulpdu=many"), std::string::npos);
  EXPECT_NE(refusal("no-receive=wait").find("stall or terminate"), std::string::npos);
}

TEST(PolicyText, ReadyToReceiveKinds) {
  EXPECT_EQ(parsed("rtr=none").startup.rtr, RtrTypes(false, false, false));
  EXPECT_EQ(parsed("rtr=send").startup.rtr, RtrTypes(true, false, false));
  EXPECT_EQ(parsed("rtr=write+read").startup.rtr, RtrTypes(false, true, true));
  EXPECT_EQ(parsed("rtr=read+send+write").startup.rtr, RtrTypes(true, true, true));
  for (const char* bad : {"rtr=", "rtr=smoke", "rtr=write+", "rtr=write read", "rtr=none+send"}) {
    EXPECT_NE(refusal(bad).find("'rtr' takes"), std::string::npos) << bad;
  }
}

TEST(PolicyText, AddressesThatMayConnect) {
  const Policy policy = parsed("allow=10.0.0.0/8+2001:db8::/32,deny=10.1.0.0/16");
  EXPECT_EQ(policy.admission.access.allow, parse_prefixes("10.0.0.0/8+2001:db8::/32"));
  EXPECT_EQ(policy.admission.access.deny, parse_prefixes("10.1.0.0/16"));
  EXPECT_TRUE(parsed("allow=all,deny=none", policy).admission.access.empty());
  const Address somebody = Address::parse("192.0.2.1").value();
  EXPECT_FALSE(parsed("allow=none,deny=none", policy).admission.access.admits(somebody));
  EXPECT_TRUE(parsed("allow=192.0.2.1", parsed("allow=none")).admission.access.admits(somebody));
  EXPECT_TRUE(parsed("allow=all", parsed("allow=none")).admission.access.empty());
  for (const char* bad : {"allow=", "deny=10.0.0.0/33", "allow=10.0.0.1/8", "deny=example.org", "deny=all",
                          "deny=::1%lo", "allow=::ffff:192.0.2.1%lo"}) {
    EXPECT_NE(refusal(bad).find("none, or addresses and prefixes such as 10.0.0.0/8"), std::string::npos) << bad;
  }
}

TEST(PolicyText, ManyKeysWithSpaces) {
  const Policy policy = parsed(" mpa-rev = 1 , crc=off,\tmarkers=on , crc=on,");
  EXPECT_EQ(policy.startup.mpa_revision, 1);
  EXPECT_TRUE(policy.startup.markers);
  EXPECT_TRUE(policy.startup.crc) << "the last counts";
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
  EXPECT_EQ(refusal("peer-to-peer=on", {.startup = {.mpa_revision = 1}}).find("peer-to-peer: needs"), 0U);
  EXPECT_EQ(refusal("peer-to-peer=on,rtr=none").find("rtr: "), 0U);
  EXPECT_TRUE(detail::check(parsed("peer-to-peer=on,rtr=send")));
}

TEST(PolicyText, EveryKeyIsExplained) {
  for (const PolicyKey& key : policy_keys()) {
    EXPECT_FALSE(key.values.empty()) << key.name;
    EXPECT_FALSE(key.meaning.empty()) << key.name;
  }
}

// The files are those of tests/verbs/tls_refusals_test.cpp's concern; here what is off is only read.
TEST(PolicyText, Tls) {
  EXPECT_EQ(parsed("").tls.mode, Tls::kOff);
  const Policy policy = parsed(
      "tls=off,tls-certificate=/a.pem,tls-key=/b.pem,tls-ca=/c.pem,tls-crl=/d.pem,tls-expect=dns:e,"
      "tls-staple=/f.der,tls-require-staple=on,tls-resumption=off,tls-ciphers=a:b,tls-groups=c");
  EXPECT_EQ(policy.tls.certificate, "/a.pem");
  EXPECT_EQ(policy.tls.key, "/b.pem");
  EXPECT_EQ(policy.tls.ca, "/c.pem");
  EXPECT_EQ(policy.tls.crl, "/d.pem");
  EXPECT_EQ(policy.tls.expect, "dns:e");
  EXPECT_EQ(policy.tls.staple, "/f.der");
  EXPECT_EQ(policy.tls.ciphers, "a:b");
  EXPECT_EQ(policy.tls.groups, "c");
  EXPECT_TRUE(policy.tls.require_staple && !parsed("").tls.require_staple);
  EXPECT_TRUE(!policy.tls.resumption && parsed("").tls.resumption);
  EXPECT_EQ(policy.tls.pcap_shows, PcapShows::kEngine);
  EXPECT_EQ(parsed("pcap-shows=wire").tls.pcap_shows, PcapShows::kWire);
  EXPECT_EQ(refusal("pcap-shows=all").find("pcap-shows=all: 'pcap-shows' takes engine or wire"), 0U);
  EXPECT_EQ(parsed("tls-ca=none", policy).tls.ca, "");
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
