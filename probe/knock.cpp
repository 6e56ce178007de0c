// SPDX-License-Identifier: Apache-2.0
// Whether there is an iWARP peer to be probed. One whose frames are a little wrong is one: the cases tell what is wrong with them.
#include <algorithm>
#include <string_view>

#include "probe/runner.hpp"

namespace weft::probe {
namespace {

using mpa::FrameKind;

constexpr std::size_t kAlike = 12;  // octets of the key's sixteen that agree: a misspelt key is a matter of a case

bool is_like_a_frame(Bytes octets, FrameKind kind) {
  const auto right = forge(kind, {});
  const std::size_t size = std::min(octets.size(), mpa::kKeySize);
  std::size_t alike = 0;
  for (std::size_t i = 0; i < size; ++i) alike += octets[i] == right[i] ? 1 : 0;
  return alike >= kAlike;
}

// What other servers say when they are sent something that they do not know.
std::string_view guess(Bytes octets) {
  const std::string_view text(reinterpret_cast<const char*>(octets.data()), octets.size());
  if (text.starts_with("SSH-")) return "an SSH server";
  if (text.starts_with("HTTP/") || text.find("<html") != std::string_view::npos) return "a web server";
  if (text.starts_with("\x15\x03")) return "a server that wants TLS";
  if (text.starts_with("220 ")) return "a mail or FTP server";
  return "something that speaks another protocol";
}

std::vector<std::byte> first_octets(Way& way, const StartUp& request) {
  const auto by = way.dial({});
  if (!way.peer_connects()) by->send_frame(request);
  return by->octets(mpa::kKeySize, way.patience);
}

}  // namespace

std::expected<void, std::string> knock(Way& way) {
  const FrameKind kind = way.peer_connects() ? FrameKind::kRequest : FrameKind::kReply;
  try {
    auto octets = first_octets(way, {});
    // One that knows revision 1 alone closes, and is asked again.
    if (octets.empty() && !way.peer_connects()) {
      octets = first_octets(way, {.revision = 1, .enhanced = {}});
      if (is_like_a_frame(octets, kind)) way.highest_revision = 1;
    }
    if (is_like_a_frame(octets, kind)) return {};
    if (octets.empty() && way.peer_connects())
      return std::unexpected("the peer is not iWARP: it connects and sends no MPA Request");
    if (octets.empty()) return std::unexpected("the peer is not iWARP: it does not answer an MPA Request");
    return std::unexpected("the peer is not iWARP: it is " + std::string(guess(octets)));
  } catch (const Judgement& judgement) {
    return std::unexpected(judgement.what());
  }
}

}  // namespace weft::probe
