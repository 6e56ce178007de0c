// SPDX-License-Identifier: Apache-2.0
#include "probe/unasked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rdmap/control.hpp"

namespace weft::probe {

using rdmap::Opcode;

bool PeerFpdu::tagged() const noexcept {
  return !ulpdu.empty() && (ddp::TaggedLayout::Ctrl::get(ulpdu) & ddp::Control::kTagged) != 0;
}
bool PeerFpdu::last() const noexcept {
  return !ulpdu.empty() && (ddp::TaggedLayout::Ctrl::get(ulpdu) & ddp::Control::kLast) != 0;
}
std::uint8_t PeerFpdu::opcode() const noexcept {
  return ulpdu.size() < 2 ? std::uint8_t{0xFF} : rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(ulpdu));
}
bool PeerFpdu::is(Opcode opcode) const noexcept { return this->opcode() == std::to_underlying(opcode); }
Bytes PeerFpdu::payload() const noexcept {
  const std::size_t header = tagged() ? ddp::TaggedLayout::kSize : ddp::UntaggedLayout::kSize;
  return ulpdu.size() < header ? Bytes() : Bytes(ulpdu).subspan(header);
}

bool Segments::is_next(const PeerFpdu& fpdu) const noexcept {
  using L = ddp::UntaggedLayout;
  return begun() && PeerFpdu{begun_}.opcode() == fpdu.opcode() &&
         L::QnField::get(begun_) == L::QnField::get(fpdu.ulpdu) &&
         L::MsnField::get(begun_) == L::MsnField::get(fpdu.ulpdu) &&
         L::MoField::get(fpdu.ulpdu) == begun_.size() - L::kSize;
}

bool Segments::take(PeerFpdu& fpdu) {
  using L = ddp::UntaggedLayout;
  constexpr std::size_t kMost = 1 << 20;  // octets; no message of a case is as long
  if (fpdu.tagged() || fpdu.ulpdu.size() < L::kSize) return false;
  if (!is_next(fpdu)) {
    begun_.clear();
    if (fpdu.last() || L::MoField::get(fpdu.ulpdu) != 0) return false;
    begun_ = fpdu.ulpdu;
    return true;
  }
  begun_.insert(begun_.end(), fpdu.payload().begin(), fpdu.payload().end());
  if (!fpdu.last() && begun_.size() < kMost) return true;
  fpdu.ulpdu = std::exchange(begun_, {});
  fpdu.ulpdu[0] |= std::byte{ddp::Control::kLast};
  return false;
}

std::string with_article(std::string_view message) {
  const bool vowel = message.starts_with('A') || message.starts_with('I') || message.starts_with("RDMA");
  return (vowel ? "an " : "a ") + std::string(message);
}

Wanted message_of(Opcode opcode) {
  return [opcode](const PeerFpdu& fpdu) { return fpdu.is(opcode); };
}
Wanted send_of(std::size_t size) {
  return [size](const PeerFpdu& fpdu) {
    return fpdu.is(Opcode::kSend) && fpdu.last() && fpdu.payload().size() == size &&
           ddp::UntaggedLayout::MoField::get(fpdu.ulpdu) == 0;
  };
}

namespace {

constexpr std::size_t kResponseSegment = 16384;  // octets of a segment

bool is_whole(const PeerFpdu& fpdu) noexcept {
  return fpdu.ulpdu.size() >= (fpdu.tagged() ? ddp::TaggedLayout::kSize : ddp::UntaggedLayout::kSize);
}

std::string words_for(const PeerFpdu& fpdu) {
  const std::size_t size = fpdu.payload().size();
  return fmt::format("{} of {} octet{}", with_article(rdmap::find_opcode(fpdu.opcode())->name), size,
                     size == 1 ? "" : "s");
}

}  // namespace

void Unasked::peer_has(const mpa::EnhancedData& depths) noexcept {
  if (depths.ird != mpa::kNoNegotiation) peer_ird_ = depths.ird;
  if (depths.ord != mpa::kNoNegotiation) peer_ord_ = depths.ord;
}

bool Unasked::asks_too_much() const noexcept {
  const auto reads = static_cast<std::size_t>(std::ranges::count(asked_, false, &Asked::done));
  return reads + atomics_asked_ > peer_ird_;
}

void Unasked::on_sent(Bytes ulpdu) {
  const PeerFpdu sent{
      .ulpdu = {ulpdu.begin(), ulpdu.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(ulpdu.size(), 128))}};
  if (!is_whole(sent)) return;
  if (sent.tagged()) {
    if (sent.is(Opcode::kReadResponse) && sent.last()) answered();
    return;
  }
  if (sent.is(Opcode::kReadRequest)) {
    if (const auto request = rdmap::parse_read_request(sent.payload())) asked_.push_back({.request = *request});
    if (asked_.size() > kMostKnown) asked_.pop_front();
  } else if (sent.is(Opcode::kAtomicRequest)) {
    ++atomics_asked_;
  } else if (sent.is(Opcode::kAtomicResponse)) {
    answered();
  }
}

void Unasked::answered() {
  const auto one = std::ranges::find(owed_, false, &Owed::skipped);
  if (one != owed_.end()) owed_.erase(one);
}

bool Unasked::takes_answer(const PeerFpdu& fpdu) {
  const std::uint32_t stag = ddp::TaggedLayout::StagField::get(fpdu.ulpdu);
  const std::uint64_t offset = ddp::TaggedLayout::ToField::get(fpdu.ulpdu);
  const auto one = std::ranges::find_if(asked_, [&](const Asked& asked) {
    return !asked.done && asked.request.sink_stag.value == stag &&
           asked.request.sink_offset.value + asked.answered == offset;
  });
  if (one == asked_.end()) return false;
  one->answered += fpdu.payload().size();
  one->done = fpdu.last();
  answers_ = static_cast<std::size_t>(one - asked_.begin());
  return true;
}

bool Unasked::on_received(const PeerFpdu& fpdu) {
  answers_.reset();
  while (!asked_.empty() && asked_.front().done) asked_.pop_front();
  if (!is_whole(fpdu)) return false;
  if (fpdu.tagged()) {
    if (fpdu.is(Opcode::kReadResponse)) return takes_answer(fpdu);
    return fpdu.is(Opcode::kWrite) &&
           (fpdu.payload().empty() || ddp::TaggedLayout::StagField::get(fpdu.ulpdu) == kOwnStag.value);
  }
  const auto* const kind = rdmap::find_opcode(fpdu.opcode());
  if (kind != nullptr && kind->queue == ddp::QueueNumber::kSend) return true;
  switch (static_cast<Opcode>(fpdu.opcode())) {
    case Opcode::kReadRequest: {
      const auto request = rdmap::parse_read_request(fpdu.payload());
      return request && owe({.request = *request}) &&
             (request->size == 0 || (request->source_stag == kOwnStag && request->size <= kMostRead));
    }
    case Opcode::kAtomicRequest: {
      const auto request = rdmap::parse_atomic_request(fpdu.payload());
      return request && owe({.request = *request}) && request->stag == kOwnStag;
    }
    case Opcode::kAtomicResponse: return atomics_asked_ != 0 && atomics_asked_-- != 0;
    default: return false;
  }
}

bool Unasked::owe(const Owed& owed) {
  if (owed_.size() == kMostKnown) return false;
  owed_.push_back(owed);
  return owed_.size() <= depth_;
}

bool Unasked::is_answer(const PeerFpdu& fpdu) noexcept {
  return fpdu.is(Opcode::kReadResponse) || fpdu.is(Opcode::kAtomicResponse);
}

void Unasked::skip(const PeerFpdu& fpdu) {
  const bool request = fpdu.is(Opcode::kReadRequest) || fpdu.is(Opcode::kAtomicRequest);
  if (request && !owed_.empty()) owed_.back().skipped = true;
  if (++skipped_ <= kMostNamed) named_.push_back(words_for(fpdu));
}

bool Unasked::is_of_an_earlier_read(ddp::Stag sink, ddp::TaggedOffset offset) const {
  const auto wanted = std::ranges::find_if(asked_, [&](const Asked& asked) {
    return !asked.done && asked.request.sink_stag == sink && asked.request.sink_offset == offset;
  });
  return answers_ && *answers_ < static_cast<std::size_t>(wanted - asked_.begin());
}

std::vector<Ulpdu> Unasked::due(Messages& make) {
  std::vector<Ulpdu> out;
  for (; !owed_.empty() && owed_.front().skipped; owed_.pop_front()) {
    if (const auto* const atomic = std::get_if<rdmap::AtomicRequest>(&owed_.front().request)) {
      out.push_back(make.atomic_response({.request_id = atomic->request_id, .original = 0}));
      continue;
    }
    const auto& read = std::get<rdmap::ReadRequest>(owed_.front().request);
    const std::vector<std::byte> octets(std::min<std::size_t>(read.size, kResponseSegment));
    std::uint32_t at = 0;
    do {
      const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(read.size - at, kResponseSegment));
      out.push_back(make.read_response(read.sink_stag, {read.sink_offset.value + at}, Bytes(octets).first(size),
                                       at + size == read.size));
      at += size;
    } while (at < read.size);
  }
  return out;
}

std::string Unasked::skipped() const {
  std::string out = fmt::format("{}", fmt::join(named_, ", "));
  if (skipped_ > named_.size()) out += fmt::format(" and {} more", skipped_ - named_.size());
  return out;
}

void Unasked::forget() noexcept {
  named_.clear();
  skipped_ = 0;
}

}  // namespace weft::probe
