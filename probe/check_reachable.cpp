// SPDX-License-Identifier: Apache-2.0
// Whether there is an iWARP peer to be probed, and how it starts up. One whose frames are a little wrong is one: the
// cases tell what is wrong with them.
#include <algorithm>
#include <memory>
#include <string_view>
#include <thread>

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

constexpr std::size_t kToRevision = mpa::kKeySize + 2;  // the key, the flags, the revision

FrameKind kind_of(const Way& way) { return way.peer_connects() ? FrameKind::kRequest : FrameKind::kReply; }

// The first octets of the peer's first frame, up to the revision.
struct FirstOctets {
  std::vector<std::byte> octets{};
  bool echo{};  // they, and those after them, are what the prober has sent
};

// A peer that listens is asked as the way knows it.
FirstOctets first_octets(Way& way) {
  const auto by = way.dial({});
  std::vector<std::byte> asked;
  if (!way.peer_connects()) asked = forge(FrameKind::kRequest, way.spoken({}));
  if (!asked.empty()) by->send(asked);
  FirstOctets out{.octets = by->octets(kToRevision, way.patience_now())};
  if (out.octets.empty() || asked.empty()) return out;
  way.learn_from(*by);
  if (!std::ranges::equal(out.octets, Bytes(asked).first(std::min(asked.size(), out.octets.size())))) return out;
  // So far it may be a Reply with the Request's key, too.
  const auto rest = by->octets(asked.size() - out.octets.size(), way.quiet_now());
  out.echo = std::ranges::equal(rest, Bytes(asked).subspan(out.octets.size()));
  return out;
}

std::expected<void, std::string> judged(const Way& way, const FirstOctets& first) {
  const Bytes octets = first.octets;
  if (first.echo) return std::unexpected("it sends back what it receives (an echo server)");
  if (is_like_a_frame(octets, kind_of(way))) return {};
  if (octets.empty() && way.peer_connects()) return std::unexpected("it connects and sends no MPA Request");
  if (octets.empty()) return std::unexpected("it does not answer an MPA Request");
  return std::unexpected("it is " + std::string(guess(octets)));
}

// Returns whether the peer takes a second connection while the first one is open. One that it does not serve is
// refused, rejected or ended, or waits for the one before it; so may the first one here, which comes right after that
// of the first contact.
bool serves_two(Way& way) {
  const auto opens = [&](std::unique_ptr<Conversation>& by) {
    try {
      static_cast<void>(way.open({}, by));
      return true;
    } catch (const Judgement&) {
      return false;
    }
  };
  std::unique_ptr<Conversation> first, second;
  if (!opens(first)) {
    first.reset();
    std::this_thread::sleep_for(way.quiet_now());
    if (!opens(first)) return true;  // nothing is known
  }
  return opens(second);
}

// What the frame says of the peer's startups.
void learn(Way& way, Bytes octets) {
  if (octets.size() < kToRevision) return;
  const bool flag = (octets[mpa::kKeySize] & std::byte{0x10}) != std::byte{};
  const auto revision = std::to_integer<std::uint8_t>(octets[mpa::kKeySize + 1]);
  // A Reply to an enhanced Request that has S, or a later revision, is of a peer that knows RFC 6581, and may be wrong.
  way.enhanced = way.peer_connects() ? flag && revision > 1 : flag || revision > 1;
  way.revision = way.enhanced || revision > 1 ? 2 : 1;
}

}  // namespace

std::expected<void, std::string> meet(Way& way) {
  try {
    auto first = first_octets(way);
    if (!first.echo && is_like_a_frame(first.octets, kind_of(way))) {
      learn(way, first.octets);
    } else if (first.octets.empty() && !way.peer_connects()) {
      // One that knows revision 1 alone closes (MPA2-10-03), and is asked by that.
      way.revision = 1;
      way.enhanced = false;
      first = first_octets(way);
    }
    auto there = judged(way, first);
    if (!there) return std::unexpected("the peer is not iWARP: " + there.error());
    if (!way.peer_connects() && !serves_two(way)) way.learned->saw_one_at_a_time();
    return there;
  } catch (const Judgement& judgement) {
    return std::unexpected(judgement.what());
  }
}

std::expected<void, std::string> check_reachable(Way& way) {
  try {
    return judged(way, first_octets(way));
  } catch (const Judgement& judgement) {
    return std::unexpected(judgement.what());
  }
}

}  // namespace weft::probe
