// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/exchange.hpp"

#include <algorithm>

namespace weft::conformance::test {
namespace {

constexpr std::uint64_t kBefore = 6;                // packets: TCP's three, both frames, the empty RDMA Write
constexpr std::uint32_t kUlpduAt = kPayloadAt + 2;  // after ULPDU_Length

std::string describe(const Finding& finding) {
  std::string text = std::string(name(finding.rule->severity)) + " " + std::string(finding.rule->clause);
  if (finding.direction) text += *finding.direction == Direction::kFromInitiator ? " initiator" : " responder";
  text += " " + std::to_string(finding.place.packet - kBefore);
  if (finding.place.octet == 0) return text;
  return text + " octet " + std::to_string(static_cast<int>(finding.place.octet) - static_cast<int>(kUlpduAt));
}

}  // namespace

Exchange::Exchange(const Conversation& conversation) : conversation_(conversation), script_(conversation.startup()) {
  initiator(tagged(kWrite, 0, 0, {}));
}

Exchange& Exchange::initiator(const Octets& ulpdu, const FpduStream::Wrong& wrong) {
  script_.send(End::kFirst, conversation_.initiator.add(ulpdu, wrong));
  return *this;
}

Exchange& Exchange::responder(const Octets& ulpdu) {
  script_.send(End::kSecond, conversation_.responder.add(ulpdu));
  return *this;
}

Exchange& Exchange::blind(End from, const Octets& ulpdu, std::optional<std::size_t> less) {
  FpduStream& stream = from == End::kFirst ? conversation_.initiator : conversation_.responder;
  const std::uint64_t sent = script_.sent(opposite(from));
  script_.send(from, stream.add(ulpdu), less ? std::optional(sent - *less) : std::nullopt);
  return *this;
}

Exchange& Exchange::gap(End from) {
  script_.gap(from, 60);
  return *this;
}

Exchange& Exchange::lose(End from, const Octets& ulpdu) {
  FpduStream& stream = from == End::kFirst ? conversation_.initiator : conversation_.responder;
  script_.gap(from, stream.add(ulpdu).size());
  return *this;
}

Exchange& Exchange::close(End from, Closing how) {
  script_.close(from, how);
  return *this;
}

Clauses Exchange::found() const {
  const ConnectionAudit audit = script_.audit();
  Clauses result;
  for (const Finding& finding : audit.findings().all()) result.push_back(describe(finding));
  return result;
}

std::vector<std::string> Exchange::told() const {
  const ConnectionAudit audit = script_.audit();
  std::vector<std::string> result;
  for (const Finding& finding : audit.findings().all()) result.push_back(finding.message);
  return result;
}

Octets changed(Octets ulpdu, std::size_t at, std::uint64_t value, unsigned size) {
  Octets replacement;
  put(replacement, value, size);
  std::ranges::copy(replacement, ulpdu.begin() + static_cast<std::ptrdiff_t>(at));
  return ulpdu;
}

Octets first(const Octets& all, std::size_t count) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

Octets Read::request() const {
  Octets payload;
  put(payload, sink, 4);
  put(payload, sink_offset, 8);
  put(payload, size, 4);
  put(payload, 0x66, 4);
  put(payload, 0x3000, 8);
  return untagged(kReadRequest, 1, msn, payload);
}

Octets Read::response(std::size_t octets, std::size_t skipped, bool last) const {
  return tagged(kReadResponse, sink, sink_offset + skipped, pattern(octets), last);
}

Octets Atomic::request() const {
  Octets payload;
  put(payload, operation, 4);
  put(payload, id, 4);
  put(payload, 0x66, 4);
  put(payload, 0x3000, 8);
  put(payload, 1, 8);
  put(payload, 0, 8);
  put(payload, compare, 8);
  put(payload, compare_mask, 8);
  return untagged(kAtomicRequest, 1, msn, payload);
}

Octets Atomic::response(unsigned response_msn) const {
  Octets payload;
  put(payload, id, 4);
  put(payload, 41, 8);
  return untagged(kAtomicResponse, 3, response_msn, payload);
}

Octets TerminateMessage::payload() const {
  Octets result;
  put(result, layer << 4 | type, 1);
  put(result, code, 1);
  put(result, bits << 8 | reserved, 2);
  if (length) put(result, *length, 2);
  return result + header + rdma;
}

TerminateMessage over(const Octets& ulpdu) {
  const bool is_tagged = (std::to_integer<unsigned>(ulpdu[0]) & 0x80U) != 0;
  TerminateMessage result;
  result.length = ulpdu.size();
  result.header = first(ulpdu, is_tagged ? 14 : 18);
  return result;
}

}  // namespace weft::conformance::test
