// SPDX-License-Identifier: Apache-2.0
#include "probe/conversation.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "probe/socket.hpp"
#include "probe/verdict.hpp"
#include "rdmap/control.hpp"

namespace weft::probe {

bool PeerFpdu::tagged() const noexcept {
  return !ulpdu.empty() && (ddp::TaggedLayout::Ctrl::get(ulpdu) & ddp::Control::kTagged) != 0;
}
bool PeerFpdu::last() const noexcept {
  return !ulpdu.empty() && (ddp::TaggedLayout::Ctrl::get(ulpdu) & ddp::Control::kLast) != 0;
}
std::uint8_t PeerFpdu::opcode() const noexcept {
  return ulpdu.size() < 2 ? std::uint8_t{0xFF} : rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(ulpdu));
}
Bytes PeerFpdu::payload() const noexcept {
  const std::size_t header = tagged() ? ddp::TaggedLayout::kSize : ddp::UntaggedLayout::kSize;
  return ulpdu.size() < header ? Bytes() : Bytes(ulpdu).subspan(header);
}

Conversation::Conversation(std::unique_ptr<Socket> socket, bool peer_opened, Duration patience)
    : socket_(std::move(socket)), patience_(patience), opened_(now()) {
  exchange_.prober = socket_->local();
  exchange_.peer = socket_->remote();
  exchange_.peer_opened = peer_opened;
}
Conversation::~Conversation() = default;

// Also what is not kept is counted by the auditor as a gap: a conversation that long is no evidence any more.
void Conversation::note(Part::Kind kind, bool from_peer, Bytes octets) {
  kept_ += octets.size();
  if (kept_ > Exchange::kMostOctets) {
    exchange_.cut = true;
    return;
  }
  exchange_.parts.push_back({kind, from_peer, {octets.begin(), octets.end()}, now() - opened_});
}

void Conversation::send(Bytes octets) {
  note(Part::kOctets, false, octets);
  static_cast<void>(socket_->send(octets, now() + patience_));  // what comes, or does not, will tell
}

void Conversation::send_in_pieces(Bytes octets, const std::vector<std::size_t>& cuts) {
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    if (cut <= from || cut >= octets.size()) continue;
    send(octets.subspan(from, cut - from));
    from = cut;
  }
  send(octets.subspan(from));
}

void Conversation::shut() {
  note(Part::kFin, false);
  shut_ = true;
  socket_->shut();
}
void Conversation::reset() {
  note(Part::kReset, false);
  socket_->reset();
}

bool Conversation::read_some(Instant deadline) {
  if (ended_ != Part::kOctets) return false;
  if (end_by_ && now() > *end_by_) fail("the case's time is over, and the peer still had it wait");
  if (received_ > kMostReceived) fail("the peer floods: it sent more than 64 MiB in one conversation");
  const std::size_t before = pending_.size();
  switch (socket_->receive(pending_, deadline)) {
    case Socket::Got::kOctets:
      received_ += pending_.size() - before;
      note(Part::kOctets, true, Bytes(pending_).subspan(before));
      return true;
    case Socket::Got::kFin: ended_ = Part::kFin; break;
    case Socket::Got::kReset: ended_ = Part::kReset; break;
    case Socket::Got::kNothing: return false;
  }
  note(ended_, true);
  return false;
}

void Conversation::send_frame(const StartUp& start_up) {
  const auto kind = exchange_.peer_opened ? mpa::FrameKind::kReply : mpa::FrameKind::kRequest;
  const bool faulty = start_up.reserved != 0 || start_up.key || start_up.private_data_length ||
                      start_up.enhanced_flag || start_up.revision == 0 || start_up.revision > mpa::kHighestRevision;
  exchange_.prober_breaks_startup = exchange_.prober_breaks_startup || faulty;
  send(forge(kind, start_up));
}

void Conversation::give_back(PeerFrame frame) {
  pending_.insert(pending_.begin(), frame.octets.begin(), frame.octets.end());
}

PeerFrame Conversation::expect_frame(mpa::FrameKind kind) {
  const std::string name = kind == mpa::FrameKind::kRequest ? "MPA Request" : "MPA Reply";
  const Instant deadline = now() + patience_;
  for (;;) {
    const auto parsed = mpa::parse_startup_frame(pending_, kind);
    if (!parsed) fail("what came is no " + name + " (" + std::string(mpa::explain(parsed.error()).sentence) + ")");
    if (*parsed) {
      const auto size = static_cast<std::ptrdiff_t>(mpa::kFixedFrameSize + Be<18, std::uint16_t>::get(pending_));
      PeerFrame frame{.octets = {pending_.begin(), pending_.begin() + size}};
      pending_.erase(pending_.begin(), pending_.begin() + size);
      frame.frame = **mpa::parse_startup_frame(frame.octets, kind);
      return frame;
    }
    if (read_some(deadline)) continue;
    if (ended_ == Part::kFin) fail("the peer closed the connection instead of an " + name);
    if (ended_ == Part::kReset) fail("the peer reset the connection instead of an " + name);
    fail(fmt::format("no {} came within {} ms", name, patience_ / std::chrono::milliseconds(1)));
  }
}

void Conversation::start_fpdus(const StartUp& ours, const mpa::StartupFrame& peers) {
  const bool crc = ours.crc || peers.crc;  // MPA-7.1.1-11
  knows_depths_ = ours.enhanced && peers.enhanced;
  start_fpdus(mpa::Framing{.crc = crc, .markers = peers.markers}, mpa::Framing{.crc = crc, .markers = ours.markers});
}

void Conversation::start_fpdus(mpa::Framing ours, mpa::Framing peers) {
  start_up_size_ = 0;
  for (const Part& part : exchange_.parts) start_up_size_ += part.from_peer ? 0 : part.octets.size();
  framer_ = Framer(ours);
  reader_.emplace(peers);
  std::this_thread::sleep_for(first_fpdu_delay_);
}

std::vector<std::byte> Conversation::fpdu(Bytes ulpdu, const FpduFault& fault) {
  ++fpdus_;
  if (std::exchange(about_next_, false) || fault.breaks())
    exchange_.subject = {.fpdu = fpdus_, .stream_offset = start_up_size_ + framer_.position()};
  return framer_.fpdu(ulpdu, fault);
}
void Conversation::send_ulpdu(Bytes ulpdu, const FpduFault& fault) { send(fpdu(ulpdu, fault)); }

Came Conversation::next(PeerFpdu& fpdu, Duration limit) {
  const Instant deadline = now() + limit;
  if (!reader_) start_fpdus(mpa::Framing{}, mpa::Framing{});
  for (;;) {
    auto taken = reader_->take(pending_);
    // One cause, one finding: the rules of conformance/ name what is wrong with the peer's FPDU, where they judge it.
    if (!taken && !exchange_.prober_breaks_startup) not_applicable("the peer's FPDUs cannot be read: " + taken.error());
    if (!taken) fail(taken.error());
    if (*taken) {
      fpdu.ulpdu = std::move(**taken);
      return Came::kFpdu;
    }
    if (read_some(deadline)) continue;
    if (ended_ == Part::kFin) return Came::kFin;
    return ended_ == Part::kReset ? Came::kReset : Came::kNothing;
  }
}

std::vector<std::byte> Conversation::octets(std::size_t size, Duration limit) {
  const Instant deadline = now() + limit;
  while (pending_.size() < size && read_some(deadline)) {
  }
  const std::size_t taken = std::min(size, pending_.size());
  std::vector<std::byte> out(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken));
  return out;
}

}  // namespace weft::probe
