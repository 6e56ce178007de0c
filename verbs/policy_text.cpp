// SPDX-License-Identifier: Apache-2.0
#include "verbs/policy_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <ranges>
#include <system_error>
#include <utility>
#include <vector>

#include "verbs/detail/argument_checks.hpp"
#include "verbs/log/text.hpp"

namespace weft::verbs {

namespace {

using detail::trimmed;
using std::chrono::milliseconds;
constexpr std::string_view kNone = "none";
using Setter = bool (*)(Policy& policy, std::string_view value);  // false: no such value

struct Key {
  PolicyKey told{};
  Setter set{};
};

std::optional<std::uint32_t> to_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "500ms" or "10s". A number alone could mean either, and is not taken; but 0 is 0.
std::optional<milliseconds> to_time(std::string_view text) {
  if (text == "0") return milliseconds(0);
  const bool fine = text.ends_with("ms");
  if (!text.ends_with('s')) return std::nullopt;
  const auto number = to_number(text.substr(0, text.size() - (fine ? 2 : 1)));
  if (!number) return std::nullopt;
  return milliseconds(std::uint64_t{*number} * (fine ? 1 : 1000));
}

// "write+read" or "none".
std::optional<RtrTypes> to_rtr(std::string_view text) {
  RtrTypes types{};
  if (text == "none") return types;
  if (text.empty()) return std::nullopt;
  for (const auto piece : std::views::split(text, '+')) {
    const std::string_view name(piece);
    bool* const type = name == "send"    ? &types.send
                       : name == "write" ? &types.write
                       : name == "read"  ? &types.read
                                         : nullptr;
    if (type == nullptr) return std::nullopt;
    *type = true;
  }
  return types;
}

template <bool Policy::* kMember>
bool set_switch(Policy& policy, std::string_view value) {
  if (value != "on" && value != "off") return false;
  policy.*kMember = value == "on";
  return true;
}

template <milliseconds Policy::* kMember>
bool set_time(Policy& policy, std::string_view value) {
  const auto time = to_time(value);
  if (time) policy.*kMember = *time;
  return time.has_value();
}

bool set_revision(Policy& policy, std::string_view value) {
  if (value != "1" && value != "2") return false;
  policy.mpa_revision = value == "1" ? 1 : 2;
  return true;
}

bool set_rtr(Policy& policy, std::string_view value) {
  const auto types = to_rtr(value);
  if (types) policy.rtr = *types;
  return types.has_value();
}

template <std::uint32_t Policy::* kMember>
bool set_number(Policy& policy, std::string_view value) {
  const auto number = to_number(value);
  if (number) policy.*kMember = *number;
  return number.has_value();
}

bool set_allow(Policy& policy, std::string_view value) {
  auto prefixes = value == "all" ? std::optional<std::vector<AddressPrefix>>(std::in_place) : parse_prefixes(value);
  if (!prefixes) return false;
  policy.access.allow = std::move(*prefixes);
  policy.access.only_allowed = value == kNone;
  return true;
}

bool set_deny(Policy& policy, std::string_view value) {
  auto prefixes = parse_prefixes(value);
  if (prefixes) policy.access.deny = std::move(*prefixes);
  return prefixes.has_value();
}

bool set_type_of_service(Policy& policy, std::string_view value) {
  const auto number = to_number(value);
  const bool fits = number && *number <= std::numeric_limits<std::uint8_t>::max();
  if (fits) policy.type_of_service = static_cast<std::uint8_t>(*number);
  return fits;
}

bool set_congestion_control(Policy& policy, std::string_view value) {
  policy.congestion_control = value == "system" ? "" : value;
  return !value.empty();
}

bool set_tls(Policy& policy, std::string_view value) {
  if (value != "off" && value != "accept" && value != "require") return false;
  policy.tls = value == "off" ? Tls::kOff : (value == "accept" ? Tls::kAccept : Tls::kRequire);
  return true;
}

bool set_pcap_shows(Policy& policy, std::string_view value) {
  if (value != "engine" && value != "wire") return false;
  policy.pcap_shows = value == "engine" ? PcapShows::kEngine : PcapShows::kWire;
  return true;
}

template <std::string Policy::* kMember>
bool set_words(Policy& policy, std::string_view value) {
  policy.*kMember = value == kNone ? "" : value;
  return !value.empty();
}

bool set_no_receive(Policy& policy, std::string_view value) {
  if (value != "stall" && value != "terminate") return false;
  policy.no_receive = value == "stall" ? NoReceive::kStall : NoReceive::kTerminate;
  return true;
}

constexpr std::string_view kSwitch = "on or off";
constexpr std::string_view kTime = "a time such as 500ms or 10s";
constexpr std::string_view kNumberOrNone = "0, or a number";
constexpr std::string_view kAllow =
    "all, none, or addresses and prefixes such as 10.0.0.0/8 and 2001:db8::/32 joined by +";
constexpr std::string_view kDeny = "none, or addresses and prefixes such as 10.0.0.0/8 and 2001:db8::/32 joined by +";
constexpr std::string_view kFile = "none, or a PEM file";
constexpr std::string_view kTimeOrNone = "0, or a time such as 500ms or 10s";

constexpr Key kKeys[] = {
    {{"mpa-rev", "1 or 2", "MPA revision to request; for a listener, the highest revision to accept"}, set_revision},
    {{"fallback", kSwitch, "Retry with revision 1 if the peer does not support revision 2"},
     set_switch<&Policy::fall_back_to_revision_1>},
    {{"crc", kSwitch, "Request CRCs; they are also used if the peer requests them"}, set_switch<&Policy::crc>},
    {{"markers", kSwitch, "Request Markers from the peer"}, set_switch<&Policy::markers>},
    {{"enhanced", kSwitch, "Exchange IRD and ORD (RFC 6581)"}, set_switch<&Policy::enhanced>},
    {{"peer-to-peer", kSwitch, "Request the ready-to-receive handshake, so that the accepting end may send first"},
     set_switch<&Policy::peer_to_peer>},
    {{"rtr", "none, or some of send, write and read joined by +", "Ready-to-receive types to offer or accept"},
     set_rtr},
    {{"max-ulpdu", "0, or 128 to 64768", "Maximum size of a ULPDU in octets; 0: what fits a TCP segment"},
     set_number<&Policy::max_ulpdu>},
    {{"early-placement", kSwitch,
      "Read long Sends and Read Responses directly into their buffers and verify them there"},
     set_switch<&Policy::early_placement>},
    {{"checked-memory", kSwitch,
      "Copy registered memory through the kernel: access to unmapped memory ends its connection, not the process"},
     set_switch<&Policy::checked_memory>},
    {{"no-receive", "stall or terminate", "Reaction to a Send that arrives when no receive is posted"}, set_no_receive},
    {{"connect-timeout", kTime, "Limit for establishing the TCP connection"}, set_time<&Policy::connect_timeout>},
    {{"connect-retry", kTimeOrNone, "How long to retry a refused connection; 0: no retry"},
     set_time<&Policy::connect_retry>},
    {{"startup-timeout", kTime, "Limit for the MPA start-up, after TCP has connected"},
     set_time<&Policy::startup_timeout>},
    {{"half-open-per-peer", "0, or a number",
      "Listener: maximum number of connections from one address without a complete MPA Request; 0: a fair share"},
     set_number<&Policy::half_open_per_peer>},
    {{"allow", kAllow, "Listener: addresses that may connect; the longest matching prefix of allow and deny decides"},
     set_allow},
    {{"deny", kDeny, "Listener: addresses that may not connect; with allow=all, all others may"}, set_deny},
    {{"connect-rate-per-peer", "0, or a number up to 1000000",
      "Listener: maximum new connections per second from one address, also the maximum burst; 0: no limit"},
     set_number<&Policy::connect_rate_per_peer>},
    {{"connections-per-peer", kNumberOrNone,
      "Listener: maximum number of requests and established connections from one address; 0: no limit"},
     set_number<&Policy::connections_per_peer>},
    {{"connections-per-listener", kNumberOrNone, "The same for all addresses together"},
     set_number<&Policy::connections_per_listener>},
    {{"connections-per-process", kNumberOrNone, "The same for all listeners of the process together"},
     set_number<&Policy::connections_per_process>},
    {{"fpdu-timeout", kTimeOrNone, "Limit from the first octet of an incoming FPDU to its last; 0: no limit"},
     set_time<&Policy::fpdu_timeout>},
    {{"idle-timeout", kTimeOrNone, "How long a connection may be idle before it is closed; 0: no limit"},
     set_time<&Policy::idle_timeout>},
    {{"window-timeout", kTimeOrNone, "How long octets may wait while the peer accepts none; 0: no limit"},
     set_time<&Policy::window_timeout>},
    {{"first-fpdu-delay", kTimeOrNone,
      "Delay from the peer's Reply to the first FPDU, for peers that are not ready at once, such as Linux siw"},
     set_time<&Policy::first_fpdu_delay>},
    {{"no-receive-timeout", kTime, "How long a stream may stall without a posted receive before it ends"},
     set_time<&Policy::no_receive_timeout>},
    {{"finish-timeout", kTime, "Limit after a disconnect for posted work to be sent and answered"},
     set_time<&Policy::finish_timeout>},
    {{"disconnect-timeout", kTime,
      "Limit after a disconnect without an octet in either direction; then posted work is flushed"},
     set_time<&Policy::disconnect_timeout>},
    {{"close-timeout", kTime,
      "Limit for the peer's FIN after this end's FIN, and for closing a connection whose queue pair was destroyed"},
     set_time<&Policy::close_timeout>},
    {{"user-timeout", kTimeOrNone, "Limit for octets that the peer's TCP does not acknowledge; 0: system default"},
     set_time<&Policy::user_timeout>},
    {{"keepalive", kSwitch, "Send TCP keep-alive probes on idle connections"}, set_switch<&Policy::keepalive>},
    {{"type-of-service", "0 to 255", "IP type of service or traffic class; 0: system default"}, set_type_of_service},
    {{"congestion-control", "system, or a name such as reno, cubic or dctcp",
      "TCP congestion control algorithm of this end"},
     set_congestion_control},
    {{"tls", "off, accept or require",
      "TLS 1.3 under MPA; accept: a listener serves peers with and without TLS, an initiator connects without"},
     set_tls},
    {{"tls-certificate", kFile, "Certificate chain of this end, its own certificate first", true},
     set_words<&Policy::tls_certificate>},
    {{"tls-key", kFile, "Private key of that certificate; none if it is in the certificate's file", true},
     set_words<&Policy::tls_key>},
    {{"tls-ca", kFile,
      "Certificates of the CAs that sign for peers; with it, a listener requires a certificate from its peers", true},
     set_words<&Policy::tls_ca>},
    {{"tls-crl", kFile, "Certificates that the CA has revoked", true}, set_words<&Policy::tls_crl>},
    {{"tls-staple", "none, or a DER file", "OCSP response that a listener presents with its certificate", true},
     set_words<&Policy::tls_staple>},
    {{"tls-require-staple", kSwitch, "Refuse a listener that presents no OCSP response"},
     set_switch<&Policy::tls_require_staple>},
    {{"tls-resumption", kSwitch, "Reconnect within an hour with a ticket instead of certificates"},
     set_switch<&Policy::tls_resumption>},
    {{"tls-ciphers", "none, or OpenSSL names joined by :", "TLS 1.3 cipher suites in order of preference"},
     set_words<&Policy::tls_ciphers>},
    {{"tls-groups", "none, or OpenSSL names joined by :", "Key exchange groups in order of preference"},
     set_words<&Policy::tls_groups>},
    {{"tls-expect", "none, or some of dns:NAME, ip:ADDRESS, uri:URI and sha256:DIGITS joined by +",
      "A peer's certificate must contain one of these names or match one of these fingerprints"},
     set_words<&Policy::tls_expect>},
    {{"pcap-shows", "engine or wire", "What a capture of a TLS connection contains: MPA in plaintext, or TLS records"},
     set_pcap_shows}};

constexpr auto kTold = [] {
  std::array<PolicyKey, std::size(kKeys)> told{};
  std::ranges::transform(kKeys, told.begin(), &Key::told);
  return told;
}();

std::string known_keys() {
  std::string names;
  for (const PolicyKey& key : kTold) names += (names.empty() ? "" : ", ") + std::string(key.name);
  return names;
}

std::unexpected<PolicyTextError> wrong(std::string text) { return std::unexpected(PolicyTextError{std::move(text)}); }

std::expected<void, PolicyTextError> apply(Policy& policy, std::string_view entry) {
  const std::size_t equals = entry.find('=');
  const std::string name(trimmed(entry.substr(0, equals)));
  const auto key = std::ranges::find(kKeys, name, [](const Key& k) { return k.told.name; });
  if (key == std::end(kKeys)) return wrong("unknown key '" + name + "'; the keys are " + known_keys());
  const std::string values(key->told.values);
  if (equals == std::string_view::npos) return wrong("'" + name + "' has no value; it takes " + values);
  const std::string value(trimmed(entry.substr(equals + 1)));
  if (!key->set(policy, value)) return wrong(name + "=" + value + ": '" + name + "' takes " + values);
  return {};
}

// The checks name members of Policy: "policy.max_ulpdu".
std::string key_of(std::string_view argument) {
  std::string key(argument.substr(argument.find('.') + 1));
  std::ranges::replace(key, '_', '-');
  return key;
}

// "tls-ca=keys/ca.pem" -> "tls-ca=/home/me/keys/ca.pem".
std::string with_absolute_file(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  const auto key = std::ranges::find(kTold, trimmed(entry.substr(0, equals)), &PolicyKey::name);
  const bool names_file = equals != std::string_view::npos && key != kTold.end() && key->names_file;
  const std::string_view value = names_file ? trimmed(entry.substr(equals + 1)) : std::string_view();
  std::error_code error;
  const auto whole = std::filesystem::absolute(value, error);
  if (value.empty() || value == kNone || error) return std::string(entry);
  return std::string(key->name) + '=' + whole.string();
}

}  // namespace

std::expected<Policy, PolicyTextError> parse_policy(std::string_view text, const Policy& base) {
  Policy policy = base;
  for (const auto piece : std::views::split(text, ',')) {
    const std::string_view entry = trimmed(std::string_view(piece));
    if (entry.empty()) continue;
    if (auto done = apply(policy, entry); !done) return std::unexpected(done.error());
  }
  if (const auto good = detail::check(policy); !good) {
    return wrong(key_of(good.error().argument) + ": " + std::string(good.error().reason));
  }
  return policy;
}

std::string with_absolute_files(std::string_view text) {
  std::string whole;
  for (const auto piece : std::views::split(text, ',')) {
    if (!whole.empty()) whole += ',';
    whole += with_absolute_file(std::string_view(piece));
  }
  return whole;
}

std::span<const PolicyKey> policy_keys() noexcept { return kTold; }

}  // namespace weft::verbs
