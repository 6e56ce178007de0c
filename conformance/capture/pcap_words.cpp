// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/pcap_words.hpp"

#include <pcap/pcap.h>

#include <array>

namespace weft::conformance::capture {
namespace {

using Kind = CaptureError::Kind;

struct Saying {
  std::string_view words{};  // of libpcap
  Kind kind{};
  std::string_view meaning{};
};

// libpcap 1.10; what is not here is damage, in libpcap's own words.
constexpr std::array kSayings{
    Saying{"unknown file format", Kind::kNotACapture, "is neither a pcap nor a pcapng capture"},
    Saying{"archaic pcap savefile", Kind::kNotACapture, "is a pcap capture of a format that is not written any more"},
    Saying{"read 4 file header bytes, only got 0", Kind::kCutShort, "is empty (0 octets): not a capture"},
    Saying{"file header bytes, only got", Kind::kCutShort, "is cut short: it ends inside the header of the capture"},
    Saying{"truncated dump file", Kind::kCutShort, "is cut short: it ends inside a packet"},
    Saying{"error reading dump file", Kind::kCannotRead, "cannot be read"},
};

}  // namespace

std::optional<LinkType> link_type(int dlt) noexcept {
  const LinkType link = dlt == DLT_RAW ? LinkType::kRawIp : static_cast<LinkType>(dlt);
  switch (link) {
    case LinkType::kUnknown: break;
    case LinkType::kNull:
    case LinkType::kEthernet:
    case LinkType::kRawIp:
    case LinkType::kLoop:
    case LinkType::kLinuxCooked:
    case LinkType::kIpv4:
    case LinkType::kIpv6:
    case LinkType::kLinuxCooked2: return link;
  }
  return std::nullopt;
}

CaptureError unknown_link_type(const std::string& name, int dlt) {
  const char* words = pcap_datalink_val_to_description(dlt);
  const std::string known = words == nullptr ? "" : std::string(" (") + words + ')';
  return {Kind::kUnknownLinkType, name + " has link type " + std::to_string(dlt) + known +
                                      "; known are Ethernet, Linux cooked (1 and 2), loopback and raw IP"};
}

CaptureError file_error(const std::string& name, std::string_view said) {
  for (const Saying& saying : kSayings) {
    if (!said.contains(saying.words)) continue;
    std::string sentence = name + ' ' + std::string(saying.meaning);
    // Its reason, the system's own words, follows the colon.
    if (saying.kind == Kind::kCannotRead && said.contains(": ")) sentence += said.substr(said.rfind(": "));
    return {saying.kind, std::move(sentence)};
  }
  return {Kind::kDamaged, name + " is damaged: " + std::string(said)};
}

CaptureError interface_error(const std::string& name, int status, std::string_view said) {
  switch (status) {
    case PCAP_ERROR_NO_SUCH_DEVICE: return {Kind::kNoSuchInterface, "there is no interface " + name};
    case PCAP_ERROR_PERM_DENIED:
    case PCAP_ERROR_PROMISC_PERM_DENIED:
      return {Kind::kNoPermission,
              "no permission to capture on " + name + ": it needs root or the capability CAP_NET_RAW"};
    case PCAP_ERROR_IFACE_NOT_UP: return {Kind::kInterfaceFailed, name + " is not up"};
    default: break;
  }
  const std::string reason = said.empty() ? std::string(pcap_statustostr(status)) : std::string(said);
  return {Kind::kInterfaceFailed, "cannot capture on " + name + ": " + reason};
}

}  // namespace weft::conformance::capture
