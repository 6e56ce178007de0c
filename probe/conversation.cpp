// SPDX-License-Identifier: Apache-2.0
#include "probe/conversation.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "mpa/text.hpp"
#include "probe/socket.hpp"
#include "rdmap/control.hpp"

namespace weft::probe {

Conversation::Conversation(std::unique_ptr<Socket> socket, bool peer_opened, Duration patience,
                           std::shared_ptr<Learned> learned)
    : learned_(std::move(learned)), socket_(std::move(socket)), patience_(patience), opened_(now()) {
  exchange_.prober = socket_->local().value_or(transport::Endpoint{});
  exchange_.peer = socket_->peer().value_or(transport::Endpoint{});
  exchange_.peer_opened = peer_opened;
}
Conversation::~Conversation() = default;

// Also what is not kept is counted by the auditor as a gap: a conversation that long is no evidence any more.
void Conversation::note(Part::Kind kind, bool from_peer, Bytes octets) {
  kept_ += octets.size();
  if (exchange_.cut || kept_ > learned_->most_kept()) {
    exchange_.cut = true;
    return;
  }
  learned_->keeps(octets.size());
  const Duration at = now() - opened_;
  // A peer whose octets come one by one costs no part for each.
  constexpr Duration kTogether = std::chrono::milliseconds(1);
  if (from_peer && kind == Part::kOctets && !exchange_.parts.empty()) {
    Part& before = exchange_.parts.back();
    if (before.from_peer && before.kind == Part::kOctets && at - before.at < kTogether) {
      before.octets.insert(before.octets.end(), octets.begin(), octets.end());
      return;
    }
  }
  exchange_.parts.push_back({kind, from_peer, {octets.begin(), octets.end()}, at});
}

void Conversation::send(Bytes octets) {
  note(Part::kOctets, false, octets);
  if (reader_) out_.sent += octets.size();
  timer_.asked_at = now();
  timer_.answered_in.reset();
  static_cast<void>(socket().send(octets, *timer_.asked_at + patience()));  // what comes, or does not, will tell
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
  out_.shut = true;
  socket().shutdown_write();
}
void Conversation::reset() {
  note(Part::kReset, false);
  socket().reset();
}

void Conversation::give_up() noexcept {
  if (!socket_) return;
  if (!out_.shut) socket_->shutdown_write();
  std::vector<std::byte> rest;
  const Instant deadline = now() + learned_->quiet(patience_ / 10);
  while (rest.size() < learned_->most_received() && socket_->receive(rest, deadline) == Socket::Got::kOctets) continue;
  socket_.reset();
}

bool Conversation::read_some(Instant deadline) {
  if (ended_ != Part::kOctets) return false;
  if (end_by_ && now() > *end_by_ + time_for(in_.received))
    fail("the case's time is over, and the peer still had it wait");
  if (const std::size_t most = learned_->most_received(); in_.received > most) {
    learned_->saw_flood();
    fail(fmt::format("the peer floods: it sent more than {} MiB in one conversation", most >> 20U));
  }
  const std::size_t before = in_.octets.size();
  switch (socket().receive(in_.octets, deadline)) {
    case Socket::Got::kOctets:
      if (timer_.asked_at) timer_.answered_in = now() - *timer_.asked_at;
      timer_.asked_at.reset();
      in_.received += in_.octets.size() - before;
      note(Part::kOctets, true, Bytes(in_.octets).subspan(before));
      return true;
    case Socket::Got::kFin: ended_ = Part::kFin; break;
    case Socket::Got::kReset: ended_ = Part::kReset; break;
    case Socket::Got::kNothing: return false;
  }
  exchange_.reset = ended_ == Part::kReset;
  note(ended_, true);
  return false;
}

// What is consumed goes when it is the larger part: each octet is moved a constant number of times.
void Conversation::consume(std::size_t octets) {
  in_.taken += octets;
  if (in_.taken < in_.octets.size() && in_.taken < in_.octets.size() / 2) return;
  in_.octets.erase(in_.octets.begin(), in_.octets.begin() + static_cast<std::ptrdiff_t>(in_.taken));
  in_.taken = 0;
}

void Conversation::send_frame(const StartUp& start_up) {
  const auto kind = exchange_.peer_opened ? mpa::FrameKind::kReply : mpa::FrameKind::kRequest;
  const bool faulty = start_up.reserved != 0 || start_up.key || start_up.private_data_length ||
                      start_up.enhanced_flag || start_up.revision == 0 || start_up.revision > mpa::kHighestRevision;
  exchange_.prober_breaks_startup = exchange_.prober_breaks_startup || faulty;
  send(forge(kind, start_up));
}

void Conversation::give_back(PeerFrame frame) {
  in_.octets.insert(in_.octets.begin() + static_cast<std::ptrdiff_t>(in_.taken), frame.octets.begin(),
                    frame.octets.end());
}

PeerFrame Conversation::expect_frame(mpa::FrameKind kind) {
  const std::string name(mpa::name(kind));
  const Instant deadline = now() + patience();
  for (;;) {
    const auto parsed = mpa::parse_startup_frame(unread(), kind);
    if (!parsed) fail("what came is no " + name + " (" + std::string(mpa::explain(parsed.error()).sentence) + ")");
    if (*parsed) {
      const Bytes octets = unread().first(mpa::kFixedFrameSize + Be<18, std::uint16_t>::get(unread()));
      PeerFrame frame{.octets = {octets.begin(), octets.end()}};
      consume(frame.octets.size());
      frame.frame = **mpa::parse_startup_frame(frame.octets, kind);
      return frame;
    }
    if (read_some(deadline)) continue;
    if (ended_ == Part::kFin) fail("the peer closed the connection instead of an " + name);
    if (ended_ == Part::kReset) fail("the peer reset the connection instead of an " + name);
    fail(fmt::format("no {} came within {} ms", name, patience() / std::chrono::milliseconds(1)));
  }
}

void Conversation::start_fpdus(const StartUp& ours, const mpa::StartupFrame& peers) {
  const bool crc = ours.crc || peers.crc;  // MPA-7.1.1-11
  knows_depths_ = ours.enhanced && peers.enhanced;
  if (knows_depths_) unasked_.peer_has(*peers.enhanced);
  if (knows_depths_ && ours.enhanced->ird != mpa::kNoNegotiation) unasked_.take_at_most(ours.enhanced->ird);
  start_fpdus(mpa::Framing{.crc = crc, .markers = peers.markers}, mpa::Framing{.crc = crc, .markers = ours.markers});
}

void Conversation::start_fpdus(mpa::Framing ours, mpa::Framing peers) {
  start_up_size_ = 0;
  for (const Part& part : exchange_.parts) start_up_size_ += part.from_peer ? 0 : part.octets.size();
  framer_ = Framer(ours);
  reader_.emplace(peers);
  out_.sent = 0;
  std::this_thread::sleep_for(first_fpdu_delay_);
}

std::vector<std::byte> Conversation::fpdu(Bytes ulpdu, const FpduFault& fault) {
  unasked_.on_sent(ulpdu);
  if (!out_.exceeds && unasked_.asks_too_much())
    not_applicable(
        fmt::format("the case has more Requests outstanding than the peer's IRD of {}", unasked_.peer_ird()));
  out_.broken = out_.broken || fault.breaks();
  ++fpdus_;
  if (std::exchange(about_next_, false) || fault.breaks())
    exchange_.subject = {.fpdu = fpdus_, .stream_offset = start_up_size_ + framer_.position()};
  auto octets = framer_.fpdu(ulpdu, fault);
  if (out_.first_ends == 0) out_.first_ends = framer_.position();
  return octets;
}
void Conversation::send_ulpdu(Bytes ulpdu, const FpduFault& fault) { send(fpdu(ulpdu, fault)); }

// MPA-7.1.2-17: a responder has seen an FPDU by then, and an initiator has sent one.
bool Conversation::is_established() const noexcept {
  if (exchange_.peer_opened) return in_.fpdus > 0;
  return out_.first_ends != 0 && out_.sent >= out_.first_ends;
}

// Never inside an FPDU of a case, nor where the peer may have stopped to read.
void Conversation::answer_what_is_due() {
  if (out_.broken || out_.shut || ended_ != Part::kOctets || out_.sent != framer_.position()) return;
  for (const Ulpdu& answer : unasked_.due(messages_)) send(framer_.fpdu(answer));
}

Came Conversation::next_any(PeerFpdu& fpdu, Duration limit) {
  const Instant began = now();
  const std::size_t before = in_.received;
  if (!reader_) start_fpdus(mpa::Framing{}, mpa::Framing{});
  for (;;) {
    auto taken = reader_->take(MutableBytes(in_.octets).subspan(in_.taken));
    // One cause, one finding: the rules of conformance/ name what is wrong with the peer's FPDU, where they judge it.
    if (!taken && !exchange_.prober_breaks_startup) not_applicable("the peer's FPDUs cannot be read: " + taken.error());
    if (!taken) fail(taken.error());
    if (*taken) {
      fpdu.ulpdu = std::move((*taken)->ulpdu);
      consume((*taken)->consumed);
      ++in_.fpdus;
      if (in_.segments.take(fpdu)) continue;
      in_.anytime = unasked_.on_received(fpdu);
      return Came::kFpdu;
    }
    if (read_some(began + limit + time_for(in_.received - before))) continue;
    // A part of an FPDU or of a message is there: the peer has begun to send something.
    const bool begun = !unread().empty() || in_.segments.begun();
    if (ended_ == Part::kOctets && begun && read_some(now() + patience())) continue;
    if (ended_ == Part::kFin) return Came::kFin;
    return ended_ == Part::kReset ? Came::kReset : Came::kNothing;
  }
}

Came Conversation::next(PeerFpdu& fpdu, Duration limit, const Wanted& wanted) {
  const Instant deadline = now() + limit;
  for (;;) {
    answer_what_is_due();
    const bool established = is_established();
    const Came came = next_any(fpdu, deadline - now());
    if (came != Came::kFpdu || (wanted && wanted(fpdu)) || !in_.anytime || !established) return came;
    if (!wanted && Unasked::is_answer(fpdu)) return came;
    unasked_.skip(fpdu);
  }
}

std::vector<std::byte> Conversation::octets(std::size_t size, Duration limit) {
  const Instant deadline = now() + limit;
  while (unread().size() < size && read_some(deadline)) {
  }
  const Bytes some = unread().first(std::min(size, unread().size()));
  std::vector<std::byte> out(some.begin(), some.end());
  consume(out.size());
  return out;
}

}  // namespace weft::probe
