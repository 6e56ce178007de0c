// SPDX-License-Identifier: Apache-2.0
// One ULPDU into admission and the parser of its message. What is accepted is written again and read again: the same.
#include <algorithm>
#include <cstdlib>

#include "rdmap/admit.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/immediate.hpp"
#include "rdmap/request_window.hpp"
#include "rdmap/terminate.hpp"

using namespace weft;
using namespace weft::rdmap;

namespace {

// serialize(parse(x)) parses, and serializes to the same octets.
template <typename Message, typename Parse>
void again(const Message& message, Parse parse) {
  std::array<std::byte, 64> first{};
  std::array<std::byte, 64> second{};
  const std::size_t size = serialize(message, first);
  const auto reread = parse(Bytes(first).first(size));
  if (!reread || serialize(*reread, second) != size || first != second) std::abort();
}

void terminate(Bytes payload) {
  const auto report = parse_terminate(payload);
  if (!report) return;
  std::array<std::byte, TerminateLayout::kLongest> out{};
  if (serialize(report->as_rfc, out) > out.size() || serialize(report->meant(), out) > out.size()) std::abort();
}

void immediate(Bytes payload) {
  const auto data = parse_immediate(payload);
  if (data && (!check_immediate_segment(payload.size()) || !std::ranges::equal(*data, payload))) std::abort();
}

void read_response(const ddp::TaggedHeader& header, std::size_t payload) {
  RequestWindow window(1);
  window.start({1, ReadExpected{header.stag, {0x1000}, 100}});
  const auto piece = window.read_response(header, payload);
  if (piece && piece->offset + payload > 100) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes ulpdu = std::as_bytes(std::span(data, size));
  const auto header = ddp::parse(ulpdu);
  if (!header) return 0;
  const auto opcode = admit(*header);
  if (!opcode) return 0;
  const Bytes payload = ulpdu.subspan(ddp::header_size(*header));
  if (*opcode == Opcode::kReadResponse) read_response(std::get<ddp::TaggedHeader>(*header), payload.size());
  if (*opcode == Opcode::kTerminate) terminate(payload);
  immediate(payload);
  if (const auto message = parse_read_request(payload)) again(*message, parse_read_request);
  if (const auto message = parse_atomic_request(payload)) again(*message, parse_atomic_request);
  if (const auto message = parse_atomic_response(payload)) again(*message, parse_atomic_response);
  return 0;
}
