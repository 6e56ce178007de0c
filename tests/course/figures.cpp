// SPDX-License-Identifier: Apache-2.0
// The figures of docs/course/, and the keys of the policy in docs/drop-in.md and on the manual page, of the code's own constants and
// tables: each between its marks, as figures.py wants it.
#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

#include "ddp/segmenter.hpp"
#include "ddp/untagged_queues.hpp"
#include "engine/engine.hpp"
#include "examples/kv_store.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/mulpdu.hpp"
#include "mpa/startup_frame.hpp"
#include "rdmap/error_table.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"
#include "verbs/device.hpp"
#include "verbs/policy.hpp"
#include "verbs/policy_text.hpp"
#include "verbs/stream/inbox.hpp"

namespace weft {
namespace {

std::string text(std::size_t number) {  // 65536: 65,536
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}
std::string text(std::string_view words) { return std::string(words); }
std::string text(const char* words) { return words; }
std::string hexadecimal(unsigned number) {
  std::array<char, 8> octets{};
  std::snprintf(octets.data(), octets.size(), "0x%02x", number);
  return octets.data();
}

template <typename... Cells>
void row(const Cells&... cells) {
  std::string line = "|";
  ((line += " " + text(cells) + " |"), ...);
  std::puts(line.c_str());
}
template <typename... Cells>
void head(const Cells&... cells) {
  row(cells...);
  std::string line;
  for (std::size_t i = 0; i < sizeof...(cells); ++i) line += "|---";
  std::puts((line + "|").c_str());
}

template <std::size_t Offset, typename T>
constexpr std::size_t offset(Be<Offset, T> /*field*/) {
  return Offset;
}
template <typename Field>
void field(std::string_view name, std::string_view layer) {
  row(offset(Field{}), Field::end - offset(Field{}), name, layer);
}

// --- Lesson 1

// What crosses the wire of one long message: the headers that say where its octets go, and the CRCs.
void wire_cost() {
  head("TCP's segment (EMSS)", "ULPDU in an FPDU (MULPDU)", "payload of an RDMA Write in it",
       "payload of what TCP carries");
  for (const std::uint32_t emss : {1448U, 8948U, 65483U}) {
    const std::size_t mulpdu = mpa::mulpdu(emss, false);
    const std::size_t payload = mulpdu - ddp::TaggedLayout::kSize;
    const std::size_t permille = 1000 * payload / mpa::bare_fpdu_size(mulpdu);
    row(std::size_t{emss}, mulpdu, payload, text(permille / 10) + "." + text(permille % 10) + " %");
  }
}

void buffers() {
  head("octets", "what");
  row(verbs::detail::Staging::kOctets, "of a staging buffer: one `recv` fills it with as many FPDUs as the kernel has");
  row(verbs::detail::Inbox::kMostRead, "that one connection takes at most before others have their turn");
  row(std::size_t{engine::Config{}.early_placement},
      "of a segment that have yet to come: with so many or more, the payload of a Send or Read Response is read "
      "straight to its place");
}

// --- Lesson 2

void fpdu() {
  head("part", "octets", "what it is");
  row("ULPDU_Length", mpa::kLengthSize, "octets of the ULPDU alone");
  row("ULPDU", text(mpa::kMinUlpdu) + " to " + text(mpa::kMaxUlpdu), "DDP's segment: its header and the payload");
  row("PAD", "0 to 3", "zeros, so that the three parts together are a multiple of four");
  row("CRC", mpa::kCrcSize, "CRC32C of all before it, least significant octet first");
  row("Marker", mpa::kMarkerSize,
      "only where the receiver asked for them: one every " + text(mpa::kMarkerPeriod) + " octets of the stream");
}

void padding() {
  head("ULPDU", "ULPDU_Length and ULPDU", "PAD", "FPDU with its CRC");
  for (const std::size_t ulpdu : {15U, 16U, 17U, 18U, 19U, 20U})
    row(ulpdu, mpa::kLengthSize + ulpdu, mpa::pad_size(ulpdu), mpa::bare_fpdu_size(ulpdu));
}

void startup() {
  head("part", "octets");
  row("Key: `MPA ID Req Frame` or `MPA ID Rep Frame`", mpa::kKeySize);
  row("Flags, revision, PD_Length", mpa::kFixedFrameSize - mpa::kKeySize);
  row("A, B, IRD and C, D, ORD: only with S set (revision 2), a part of the private data", mpa::kEnhancedDataSize);
  row("Private data, including IRD and ORD", "0 to " + text(mpa::kMaxPrivateData));
}

void markers() {
  head("an FPDU's octets without Markers", "begins at stream position", "Markers in it", "octets with them");
  for (const auto& [position, ulpdu] : {std::pair{0U, 34U}, {44U, 34U}, {480U, 34U}, {88U, 1000U}}) {
    const std::size_t bare = mpa::bare_fpdu_size(ulpdu);
    row(bare, std::size_t{position}, mpa::marker_count(position, bare),
        mpa::fpdu_size({.crc = true, .markers = true}, position, ulpdu));
  }
}

// --- Lesson 3

void tagged() {
  using L = ddp::TaggedLayout;
  head("at", "octets", "field", "layer");
  field<L::Ctrl>("control: T = 1, L, version", "DDP");
  field<L::RsvdUlp>("RsvdULP: version, opcode", "RDMAP");
  field<L::StagField>("STag", "DDP");
  field<L::ToField>("TO (Tagged Offset)", "DDP");
}

void untagged() {
  using L = ddp::UntaggedLayout;
  head("at", "octets", "field", "layer");
  field<L::Ctrl>("control: T = 0, L, version", "DDP");
  field<L::RsvdUlp>("RsvdULP: version, opcode", "RDMAP");
  field<L::RsvdUlpWord>("RsvdULP: the STag to invalidate, or zero", "RDMAP");
  field<L::QnField>("QN (queue number)", "DDP");
  field<L::MsnField>("MSN (message sequence number)", "DDP");
  field<L::MoField>("MO (message offset)", "DDP");
}

void segments() {
  head("segment", "L", "TO", "payload", "ULPDU", "FPDU");
  constexpr std::uint32_t kMulpdu = mpa::mulpdu(1448, false);
  ddp::TaggedSegmenter cut(0, {0}, {0x1000}, 4000);
  for (std::size_t number = 1; !cut.done(); ++number) {
    const auto segment = cut.next(kMulpdu);
    const std::size_t ulpdu = ddp::TaggedLayout::kSize + segment.length;
    row(number, segment.header.last ? "1" : "0", std::size_t{segment.header.offset.value}, std::size_t{segment.length},
        ulpdu, mpa::bare_fpdu_size(ulpdu));
  }
}

// --- Lesson 5

void opcodes() {
  head("opcode", "message", "goes to", "RFC");
  for (const rdmap::OpcodeRow& message : rdmap::kOpcodeTable)
    row(hexadecimal(std::to_underlying(message.opcode)), message.name,
        message.tagged() ? std::string("a tagged buffer")
                         : "queue " + text(std::size_t{std::to_underlying(*message.queue)}),
        std::to_string(message.rfc));
}

void request() {
  using L = rdmap::ReadRequestLayout;
  head("at", "octets", "field", "whose memory");
  field<L::SinkStag>("SinkSTag", "the requester's");
  field<L::SinkTo>("SinkTO", "the requester's");
  field<L::Size>("RDMARDSZ: octets to read", "");
  field<L::SourceStag>("SrcSTag", "the responder's");
  field<L::SourceTo>("SrcTO", "the responder's");
}

// --- Lesson 6

void errors() {
  head("layer", "type", "code", "what it says", "clause");
  for (const rdmap::ErrorRow& error : rdmap::kErrorTable)
    row(std::size_t{std::to_underlying(error.error.layer)}, std::size_t{error.error.type},
        error.any_code ? std::string("any") : hexadecimal(error.error.code), error.sentence, error.clause);
}

void limits() {
  const verbs::Policy policy;
  const auto seconds = [](auto time) { return text(static_cast<std::size_t>(time.count() / 1000)) + " s"; };
  head("what a peer can take", "limit");
  row("time for its startup frame", seconds(policy.timeouts.startup));
  row("private data in it, octets", mpa::kMaxPrivateData);
  row("time from an FPDU's first octet to its last", seconds(policy.timeouts.fpdu));
  row("octets that weft waits for if ULPDU_Length is wrong", mpa::kMaxUlpduLength);
  row("Reads and atomics that wait for their answer", std::size_t{verbs::DeviceLimits{}.max_ird});
  row("time of a Send that finds no receive", seconds(policy.timeouts.no_receive));
}

// --- Lesson 7

void entry() {
  head("at", "octets", "field");
  row(offsetof(kv::Entry, front), sizeof(kv::Entry::front), "`front`: stamped when the writer is done");
  row(offsetof(kv::Entry, pair) + offsetof(kv::Pair, key), sizeof(kv::Pair::key), "the key, and a zero after it");
  row(offsetof(kv::Entry, pair) + offsetof(kv::Pair, value), sizeof(kv::Pair::value), "the value, and a zero after it");
  row(offsetof(kv::Entry, back), sizeof(kv::Entry::back), "`back`: stamped before the writer begins");
  std::printf("\nAn entry has %s octets, and the table %s entries.\n", text(sizeof(kv::Entry)).c_str(),
              text(kv::kEntries).c_str());
}

// --- docs/drop-in.md and docs/man/weft-run.1

// Defaults are those of the drop-in libraries.
void policy_keys() {
  const verbs::Policy defaults{.startup = {.peer_to_peer = true}};
  head("key", "values", "default", "meaning");
  for (const verbs::PolicyKey& key : verbs::policy_keys())
    row('`' + text(key.name) + '`', key.values, key.text(defaults), key.meaning);
}

std::string roff(std::string_view words) {
  std::string line;
  for (const char c : words) line += c == '-' ? "\\-" : std::string(1, c);
  return line;
}

void policy_keys_roff() {
  for (const verbs::PolicyKey& key : verbs::policy_keys())
    std::printf(".TP\n\\fB%s\\fR\n%s. %s.\n", roff(key.name).c_str(), roff(key.values).c_str(),
                roff(key.meaning).c_str());
}

constexpr std::pair<const char*, void (*)()> kFigures[] = {{"wire-cost", wire_cost},
                                                           {"buffers", buffers},
                                                           {"fpdu", fpdu},
                                                           {"padding", padding},
                                                           {"startup", startup},
                                                           {"markers", markers},
                                                           {"tagged", tagged},
                                                           {"untagged", untagged},
                                                           {"segments", segments},
                                                           {"opcodes", opcodes},
                                                           {"request", request},
                                                           {"errors", errors},
                                                           {"limits", limits},
                                                           {"entry", entry},
                                                           {"policy-keys", policy_keys},
                                                           {"policy-keys-roff", policy_keys_roff}};

}  // namespace
}  // namespace weft

int main() {
  for (const auto& [name, print] : weft::kFigures) {
    std::printf("<!-- figure %s -->\n", name);
    print();
    std::puts("<!-- end of the figure -->");
  }
}
