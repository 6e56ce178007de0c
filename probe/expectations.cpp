// SPDX-License-Identifier: Apache-2.0
// What a conversation expects of its peer. Each sentence of a failure says what came and what should have come.
#include <fmt/format.h>

#include "probe/conversation.hpp"
#include "probe/socket.hpp"
#include "probe/verdict.hpp"
#include "rdmap/error_table.hpp"
#include "rdmap/text.hpp"

namespace weft::probe {
namespace {

std::string text_of(const rdmap::ErrorCode& error) {
  return fmt::format("{} ({})", rdmap::short_text(error), rdmap::sentence(error));
}

std::string text_of(const std::vector<rdmap::ErrorCode>& any_of) {
  std::string out;
  for (const auto& error : any_of) out += (out.empty() ? "" : ", or ") + text_of(error);
  return out;
}

std::string name_of(const PeerFpdu& fpdu) {
  const auto* row = rdmap::find_opcode(fpdu.opcode());
  return row != nullptr ? std::string(row->name) : fmt::format("message of opcode {:#x}", fpdu.opcode());
}

std::string text_of(Came came, Duration limit) {
  switch (came) {
    case Came::kFin: return "the peer closed the connection";
    case Came::kReset: return "the peer reset the connection";
    case Came::kNothing: return fmt::format("nothing came within {} ms", limit / std::chrono::milliseconds(1));
    case Came::kFpdu: return "an FPDU came";
  }
  std::unreachable();
}

// No Terminate came.
std::string text_without(Came came, Duration limit, const std::vector<rdmap::ErrorCode>& due) {
  if (came == Came::kNothing) return text_of(came, limit) + "; a Terminate of " + text_of(due) + " was due";
  return text_of(came, limit) + " without a Terminate; " + text_of(due) + " was due";
}

std::string error_of(const PeerFpdu& fpdu) {
  if (!fpdu.is(rdmap::Opcode::kTerminate)) return {};
  const auto report = rdmap::parse_terminate(fpdu.payload());
  return report ? " of " + text_of(report->meant().error) : std::string();
}

}  // namespace

PeerFpdu Conversation::expect_fpdu(const std::string& what, std::optional<Duration> limit) {
  const Duration time = limit.value_or(patience());
  PeerFpdu fpdu;
  const Came came = next_any(fpdu, time);
  if (came != Came::kFpdu) fail(text_of(came, time) + " instead of " + what);
  return fpdu;
}

PeerFpdu Conversation::expect_message(rdmap::Opcode opcode, const char* unless_closed, const Wanted& wanted) {
  unasked_.forget();
  const auto fits = [&](const PeerFpdu& fpdu) { return fpdu.is(opcode) && (!wanted || wanted(fpdu)); };
  PeerFpdu fpdu;
  const Duration time = patience();
  const Came came = next(fpdu, time, fits);
  if (unless_closed != nullptr && (came == Came::kFin || came == Came::kReset)) not_applicable(unless_closed);
  const bool request = opcode == rdmap::Opcode::kReadRequest || opcode == rdmap::Opcode::kAtomicRequest;
  if (came == Came::kNothing && request && unasked_.peer_waits())
    not_applicable(
        fmt::format("the peer's ORD is {}, and as many of its Requests wait for an answer", unasked_.peer_ord()));
  const std::string name = with_article(rdmap::row(opcode).name);
  const std::string before = unasked_.skipped().empty() ? std::string() : "; before that came " + unasked_.skipped();
  if (came != Came::kFpdu) fail(text_of(came, time) + " instead of " + name + before);
  if (!fpdu.is(opcode)) fail(with_article(name_of(fpdu)) + error_of(fpdu) + " came instead of " + name + before);
  if (!fits(fpdu)) fail(name + " came that is not the one which was due" + before);
  return fpdu;
}

rdmap::ReadRequest Conversation::expect_read_request() {
  const PeerFpdu fpdu = expect_message(rdmap::Opcode::kReadRequest);
  const auto request = rdmap::parse_read_request(fpdu.payload());
  if (!request) fail("the peer's Read Request is malformed");
  return *request;
}

rdmap::ReadRequest Conversation::expect_read_request(std::uint32_t size) {
  const auto parsed = [](const PeerFpdu& fpdu) { return rdmap::parse_read_request(fpdu.payload()); };
  const PeerFpdu fpdu = expect_message(rdmap::Opcode::kReadRequest, nullptr, [&](const PeerFpdu& one) {
    const auto request = parsed(one);
    return !request || (size == 0 ? request->size == 0 : request->size != 0);
  });
  const auto request = parsed(fpdu);
  if (!request) fail("the peer's Read Request is malformed");
  return *request;
}

void Conversation::expect_whole(rdmap::Opcode opcode, std::size_t size, ddp::TaggedOffset target,
                                const std::function<void(const PeerFpdu&)>& check) {
  const bool tagged = rdmap::row(opcode).tagged();
  std::string others;
  for (std::size_t got = 0;;) {
    const Wanted here = [&](const PeerFpdu& fpdu) {
      if (!tagged || size == 0) return true;
      // A message without octets may name any offset, and is another one.
      if (got == 0 && fpdu.payload().empty()) return false;
      return ddp::TaggedLayout::ToField::get(fpdu.ulpdu) == target.value + got;
    };
    PeerFpdu fpdu;
    try {
      fpdu = expect_message(opcode, nullptr, here);
    } catch (const Judgement& judgement) {
      if (judgement.verdict != Verdict::kFail || others.empty()) throw;
      fail(fmt::format("{}; messages of{} octets came, and none of {}", judgement.what(), others, size));
    }
    if (check) check(fpdu);
    got += fpdu.payload().size();
    if (!fpdu.last()) continue;
    if (got == size) return;
    others += fmt::format(" {}", got);
    if (tagged) fail(fmt::format("the peer's {} of {} octets has {}", rdmap::row(opcode).name, size, got));
    got = 0;
  }
}

std::vector<std::byte> Conversation::read_response(ddp::Stag sink, ddp::TaggedOffset offset, std::size_t most) {
  using rdmap::Opcode;
  std::vector<std::byte> octets;
  for (;;) {
    const PeerFpdu fpdu = expect_message(Opcode::kReadResponse);
    if (!fpdu.tagged() || fpdu.ulpdu.size() < ddp::TaggedLayout::kSize)
      fail("a Read Response came that is no tagged message");
    const auto stag = ddp::TaggedLayout::StagField::get(fpdu.ulpdu);
    const auto at = ddp::TaggedLayout::ToField::get(fpdu.ulpdu);
    const bool fits = stag == sink.value && at == offset.value + octets.size();
    if (!fits && octets.empty() && unasked_.is_of_an_earlier_read(sink, offset)) continue;
    if (stag != sink.value)
      fail(fmt::format("the Read Response's STag is {:#x}; the Request's sink was {:#x}", stag, sink.value));
    if (!fits) fail(fmt::format("the Read Response's TO is {:#x}; {:#x} was due", at, offset.value + octets.size()));
    octets.insert(octets.end(), fpdu.payload().begin(), fpdu.payload().end());
    if (octets.size() > most)
      fail(fmt::format("the Read Response has {} octets or more; {} were asked for", octets.size(), most));
    if (fpdu.last()) return octets;
  }
}

std::vector<std::byte> Conversation::expect_read_response(ddp::Stag sink, ddp::TaggedOffset offset, std::size_t size) {
  auto octets = read_response(sink, offset, size);
  if (octets.size() != size)
    fail(fmt::format("the Read Response has {} octets; {} were asked for", octets.size(), size));
  return octets;
}

void Conversation::check_quote(const rdmap::Terminate& terminate, Bytes offending) {
  auto segment = rdmap::segment_in_error(offending);
  const PeerFpdu sent{.ulpdu = {offending.begin(), offending.end()}};
  if (!sent.tagged() && sent.is(rdmap::Opcode::kReadRequest)) {
    if (const auto request = rdmap::parse_read_request(sent.payload())) segment.read_request = *request;
  }
  const auto wanted = rdmap::make_terminate(terminate.error, &segment);
  const auto same = [](const std::optional<rdmap::HeaderCopy>& a, const std::optional<rdmap::HeaderCopy>& b) {
    return a.has_value() == b.has_value() && (!a || std::ranges::equal(a->octets(), b->octets()));
  };
  const std::string error = "the Terminate of " + text_of(terminate.error);
  if (!same(terminate.ddp_header, wanted.ddp_header)) {
    if (!terminate.ddp_header) {
      const std::string lacks = error + " has no copy of the DDP header that was at fault";
      // For a segment that DDP did not deliver, this is a SHOULD; for a delivered one, RFC 5040 section 7.1 requires
      // nothing.
      if (terminate.error.layer != rdmap::Layer::kDdp) fail(lacks);
      warnings_.push_back(lacks + " (RDMAP-4.8-09, DDP-7.1-19)");
      return;
    }
    fail(error + (wanted.ddp_header ? " quotes another DDP header than the one that was at fault"
                                    : " quotes a DDP header, and none is due"));
  }
  // Section 7.1 of RFC 5040 sets the header to zero where figure 10 has one that is not a Read Request's: two readings.
  const bool zero = terminate.read_request == rdmap::ReadRequest{} && !wanted.read_request;
  if (zero) {
    warnings_.push_back(error + " has an RDMA header of zeros, and none is due (RDMAP-4.8-18)");
  } else if (terminate.read_request.has_value() != wanted.read_request.has_value())
    fail(error + (wanted.read_request ? " has no copy of the Read Request's header"
                                      : " quotes a Read Request's header, and none is due"));
  if (terminate.read_request && !zero && *terminate.read_request != *wanted.read_request)
    fail(error + " quotes another Read Request's header than the one that was at fault");
  if (terminate.segment_length.has_value() != wanted.segment_length.has_value())
    fail(error + (wanted.segment_length ? " has no DDP Segment Length" : " has a DDP Segment Length, and none is due"));
  if (terminate.segment_length && *terminate.segment_length != *wanted.segment_length)
    warnings_.push_back(
        fmt::format("{} says {} for the DDP Segment Length; the segment had {} octets, its header included "
                    "(RDMAP-4.8-13)",
                    error, *terminate.segment_length, *wanted.segment_length));
}

rdmap::Terminate Conversation::expect_terminate(std::initializer_list<rdmap::ErrorCode> any_of, Bytes offending) {
  return expect_terminate(std::vector(any_of), offending);
}

Came Conversation::next_terminate(PeerFpdu& fpdu) {
  const Instant began = now();
  const std::size_t before = in_.received;
  Came came{};
  do came = next_any(fpdu, began + patience() + time_for(in_.received - before) - now());
  while (came == Came::kFpdu && !fpdu.is(rdmap::Opcode::kTerminate));
  return came;
}

rdmap::Terminate Conversation::expect_terminate(const std::vector<rdmap::ErrorCode>& any_of, Bytes offending,
                                                const std::vector<rdmap::ErrorCode>& tolerated) {
  PeerFpdu fpdu;
  if (const Came came = next_terminate(fpdu); came != Came::kFpdu) fail(text_without(came, patience(), any_of));
  return take_terminate(fpdu, any_of, offending, tolerated);
}

void Conversation::expect_terminate_or_end(const std::vector<rdmap::ErrorCode>& any_of) {
  PeerFpdu fpdu;
  const Came came = next_terminate(fpdu);
  if (came == Came::kFpdu) return static_cast<void>(take_terminate(fpdu, any_of, {}, {}));
  if (came == Came::kNothing) fail(text_without(came, patience(), any_of));
  warnings_.push_back(text_without(came, patience(), any_of) + " (a SHOULD: RDMAP-6.2.1-01, MPA-8-05)");
  if (!out_.shut) shut();
}

rdmap::Terminate Conversation::take_terminate(const PeerFpdu& fpdu, const std::vector<rdmap::ErrorCode>& any_of,
                                              Bytes offending, const std::vector<rdmap::ErrorCode>& tolerated) {
  const auto report = rdmap::parse_terminate(fpdu.payload());
  if (!report) fail(fmt::format("a Terminate of {} octets came", fpdu.payload().size()));
  const rdmap::Terminate terminate = report->meant();
  const bool named = std::ranges::find(any_of, terminate.error) != any_of.end();
  if (!named && std::ranges::find(tolerated, terminate.error) != tolerated.end())
    warnings_.push_back("a Terminate of " + text_of(terminate.error) + " came; " + text_of(any_of) +
                        " says better what was wrong");
  else if (!named)
    fail("a Terminate of " + text_of(terminate.error) + " came; " + text_of(any_of) + " was due");
  const bool quotes = terminate.segment_length || terminate.ddp_header || terminate.read_request;
  if (terminate.error.layer == rdmap::Layer::kLlp && quotes)
    fail("the Terminate of " + text_of(terminate.error) + " quotes headers; one of layer 2 has none (RDMAP-4.8-41)");
  if (!offending.empty()) check_quote(terminate, offending);
  // The peer may wait for our FIN with its own.
  PeerFpdu more;
  Came came = next_any(more, learned_->quiet(patience_ / 10));
  if (came == Came::kNothing) {
    shut();
    came = next_any(more, patience());
  }
  if (came == Came::kFpdu)
    fail(with_article(name_of(more)) + " came after the Terminate, which is the last message of its direction");
  if (came == Came::kNothing) fail("the connection stayed open after the Terminate");
  // So that the peer is rid of the connection while the case goes on: one that connects has a few at a time.
  if (came == Came::kFin && !out_.shut) shut();
  return terminate;
}

void Conversation::expect_end(const std::string& why) {
  const auto some = octets(1, patience());
  if (!some.empty()) fail("octets came although the connection had to end: " + why);
  if (ended_ == Part::kOctets)
    fail(fmt::format("the connection was still open after {} ms, and had to end: {}",
                     patience() / std::chrono::milliseconds(1), why));
}

void Conversation::expect_end_sometime(const std::string& why, Duration limit) {
  const Instant deadline = now() + limit;
  // A peer whose Terminate came may wait for our FIN with its own.
  for (PeerFpdu fpdu; reader_ && !exchange_.prober_breaks_startup && next_any(fpdu, deadline - now()) == Came::kFpdu;) {
    if (fpdu.is(rdmap::Opcode::kTerminate) && !out_.shut) shut();
  }
  while (read_some(deadline)) consume(unread().size());
  if (ended_ == Part::kOctets)
    fail(fmt::format("the connection was still open after {} ms, and had to end: {}",
                     limit / std::chrono::milliseconds(1), why));
}

void Conversation::expect_silence(Duration limit, const std::string& why, const Wanted& breach) {
  if (is_established()) {
    PeerFpdu fpdu;
    if (next(fpdu, limit, breach) == Came::kFpdu)
      fail(with_article(name_of(fpdu)) + error_of(fpdu) + " came, and none was due: " + why);
  } else if (!octets(1, limit).empty()) {
    fail("octets came, and none were due: " + why);
  }
  if (ended_ != Part::kOctets) fail("the peer ended the connection: " + why);
}

void Conversation::expect_empty_read() {
  const ddp::TaggedOffset offset{0x1234};
  send_ulpdu(make().read_request({.sink_stag = {7}, .sink_offset = offset}));
  constexpr std::size_t kMost = 64U << 10U;
  static_cast<void>(read_response({7}, offset, kMost));
}

}  // namespace weft::probe
