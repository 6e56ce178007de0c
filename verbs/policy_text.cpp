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

template <std::vector<AddressPrefix> AccessList::* kMember>
bool set_prefixes(Policy& policy, std::string_view value) {
  auto prefixes = parse_prefixes(value);
  if (prefixes) policy.access.*kMember = std::move(*prefixes);
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
constexpr std::string_view kPrefixes =
    "none, or addresses and prefixes such as 10.0.0.0/8 and 2001:db8::/32 joined by +";
constexpr std::string_view kFile = "none, or a file in PEM";
constexpr std::string_view kTimeOrNone = "0, or a time such as 500ms or 10s";

constexpr Key kKeys[] = {
    {{"mpa-rev", "1 or 2", "MPA revision to ask for; for a listener the highest that it accepts"}, set_revision},
    {{"fallback", kSwitch, "Try again with revision 1 where the peer does not know revision 2"},
     set_switch<&Policy::fall_back_to_revision_1>},
    {{"crc", kSwitch, "Ask for CRCs; they are used all the same if the peer asks"}, set_switch<&Policy::crc>},
    {{"markers", kSwitch, "Ask the peer for Markers in what it sends"}, set_switch<&Policy::markers>},
    {{"enhanced", kSwitch, "Exchange IRD and ORD (RFC 6581)"}, set_switch<&Policy::enhanced>},
    {{"peer-to-peer", kSwitch, "Ready-to-receive handshake, so that the accepting end may speak first"},
     set_switch<&Policy::peer_to_peer>},
    {{"rtr", "none, or some of send, write and read joined by +", "Ready-to-receive kinds to offer or accept"},
     set_rtr},
    {{"max-ulpdu", "0, or 128 to 64768", "Octets of one ULPDU at most; 0 takes what a TCP segment holds"},
     set_number<&Policy::max_ulpdu>},
    {{"early-placement", kSwitch, "Read long Sends and Read Responses straight to their place and verify them there"},
     set_switch<&Policy::early_placement>},
    {{"checked-memory", kSwitch,
      "Let the kernel copy to and from registered memory: what is unmapped ends its connection, not the process"},
     set_switch<&Policy::checked_memory>},
    {{"no-receive", "stall or terminate", "What a Send that finds no posted receive does to the stream"},
     set_no_receive},
    {{"connect-timeout", kTime, "For the TCP connection"}, set_time<&Policy::connect_timeout>},
    {{"connect-retry", kTimeOrNone, "For how long a connect that is refused is tried again"},
     set_time<&Policy::connect_retry>},
    {{"startup-timeout", kTime, "For the MPA start-up, once TCP is connected"}, set_time<&Policy::startup_timeout>},
    {{"half-open-per-peer", "0, or a number",
      "For a listener: connections of one address that have not asked yet; 0 gives it a fair share"},
     set_number<&Policy::half_open_per_peer>},
    {{"allow", kPrefixes, "For a listener: addresses that may connect; the longest prefix of allow and deny decides"},
     set_prefixes<&AccessList::allow>},
    {{"deny", kPrefixes, "For a listener: addresses that may not; with nothing in allow all others may"},
     set_prefixes<&AccessList::deny>},
    {{"connect-rate-per-peer", "0, or a number up to 1000000",
      "For a listener: connections of one address in a second, and as many at once; 0 is no bound"},
     set_number<&Policy::connect_rate_per_peer>},
    {{"connections-per-peer", kNumberOrNone,
      "For a listener: connections of one address that have asked and not ended; 0 is no bound"},
     set_number<&Policy::connections_per_peer>},
    {{"connections-per-listener", kNumberOrNone, "The same of all addresses together"},
     set_number<&Policy::connections_per_listener>},
    {{"connections-per-process", kNumberOrNone, "The same of all listeners of the process together"},
     set_number<&Policy::connections_per_process>},
    {{"fpdu-timeout", kTimeOrNone, "From the first octet of an FPDU of the peer to its last; 0 is no bound"},
     set_time<&Policy::fpdu_timeout>},
    {{"idle-timeout", kTimeOrNone, "Without an octet either way, until the connection is closed; 0 is no bound"},
     set_time<&Policy::idle_timeout>},
    {{"window-timeout", kTimeOrNone, "For a peer that takes none of the octets that wait for it; 0 is no bound"},
     set_time<&Policy::window_timeout>},
    {{"first-fpdu-delay", kTimeOrNone,
      "From the peer's Reply to the first FPDU, for peers that are not ready at once, such as Linux siw"},
     set_time<&Policy::first_fpdu_delay>},
    {{"no-receive-timeout", kTime, "How long a stream stalls for a receive before it ends"},
     set_time<&Policy::no_receive_timeout>},
    {{"finish-timeout", kTime, "After a disconnect, for what is posted to be sent and answered"},
     set_time<&Policy::finish_timeout>},
    {{"close-timeout", kTime,
      "For the peer's FIN after ours, and for the end of a connection whose queue pair was destroyed"},
     set_time<&Policy::close_timeout>},
    {{"user-timeout", kTimeOrNone, "For octets that the peer's TCP does not acknowledge; 0 leaves the system's"},
     set_time<&Policy::user_timeout>},
    {{"keepalive", kSwitch, "TCP keep-alive probes on idle connections"}, set_switch<&Policy::keepalive>},
    {{"type-of-service", "0 to 255", "IP's type of service or traffic class; 0 leaves the system's"},
     set_type_of_service},
    {{"congestion-control", "system, or a name such as reno, cubic or dctcp", "TCP's, for what this end sends"},
     set_congestion_control},
    {{"tls", "off, accept or require",
      "TLS 1.3 under MPA; accept is for a listener that also serves peers without, and connects without"},
     set_tls},
    {{"tls-certificate", kFile, "Our certificate, and behind it those up to the CA's", true},
     set_words<&Policy::tls_certificate>},
    {{"tls-key", kFile, "Its private key; none where the file of the certificate has it", true},
     set_words<&Policy::tls_key>},
    {{"tls-ca", kFile, "Certificates of the CAs that sign for peers; with it a listener's peers have to show one",
      true},
     set_words<&Policy::tls_ca>},
    {{"tls-crl", kFile, "Certificates that the CA has revoked", true}, set_words<&Policy::tls_crl>},
    {{"tls-staple", "none, or a file in DER", "OCSP's answer about our certificate, which a listener shows", true},
     set_words<&Policy::tls_staple>},
    {{"tls-require-staple", kSwitch, "Refuse a listener that shows no answer of OCSP"},
     set_switch<&Policy::tls_require_staple>},
    {{"tls-resumption", kSwitch, "Connect again by a ticket, for an hour, without certificates"},
     set_switch<&Policy::tls_resumption>},
    {{"tls-ciphers", "none, or OpenSSL's names joined by :", "Ciphers of TLS 1.3 that this end takes, the best first"},
     set_words<&Policy::tls_ciphers>},
    {{"tls-groups", "none, or OpenSSL's names joined by :", "The same of groups for the key exchange"},
     set_words<&Policy::tls_groups>},
    {{"tls-expect", "none, or some of dns:NAME, ip:ADDRESS, uri:URI and sha256:DIGITS joined by +",
      "Names of which a peer's certificate has to bear one, or its fingerprint"},
     set_words<&Policy::tls_expect>},
    {{"pcap-shows", "engine or wire",
      "Of a connection with TLS a capture has what MPA says in clear, or TLS's records"},
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
