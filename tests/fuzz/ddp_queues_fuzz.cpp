// SPDX-License-Identifier: Apache-2.0
// A stream of ULPDUs, each after one octet that tells its length, into header, queues and tagged placement. Whatever
// arrives, no receive is written past its end, and none is delivered twice.
#include <cstdlib>

#include "ddp/tagged.hpp"
#include "ddp/untagged_queues.hpp"
#include "tests/ddp/fake_placement.hpp"

using namespace weft;
using namespace weft::ddp;

namespace {

struct Sink {
  test::FakePlacement memory{64};
  UntaggedQueues queues{3};
  std::uint64_t next_cookie = 0;
};

bool untagged(Sink& sink, const UntaggedHeader& header, Bytes payload) {
  const auto queue = queue_number(header.queue);
  if (!queue) return false;
  switch (*queue) {
    case QueueNumber::kSend: {
      const auto where = (header.rsvd_ulp & 8) != 0 ? ReceiveQueue::Where::kAside : ReceiveQueue::Where::kBuffer;
      const auto outcome = sink.queues.sends.place(header, payload, sink.memory, where);
      const auto* filled = outcome ? std::get_if<ReceiveFilled>(&*outcome) : nullptr;
      if (filled == nullptr) return outcome.has_value();
      const std::uint64_t capacity = std::max<std::uint64_t>(filled->buffer.capacity, ReceiveQueue::kAsideCapacity);
      if (filled->length > capacity || filled->buffer.cookie != sink.next_cookie++) std::abort();
      return true;
    }
    case QueueNumber::kRequest: return sink.queues.requests.place(header, payload).has_value();
    case QueueNumber::kTerminate: return sink.queues.terminate.place(header, payload).has_value();
    case QueueNumber::kAtomicResponse: return sink.queues.atomic_responses.place(header, payload).has_value();
  }
  std::abort();
}

bool segment(Sink& sink, Bytes ulpdu) {
  const auto header = parse(ulpdu);
  if (!header) return false;
  const Bytes payload = ulpdu.subspan(header_size(*header));
  if (const auto* tagged = std::get_if<TaggedHeader>(&*header))
    return place_tagged(*tagged, payload, sink.memory).has_value();
  return untagged(sink, std::get<UntaggedHeader>(*header), payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Sink sink;
  for (std::uint64_t cookie = 0; cookie < 4; ++cookie) sink.memory.post(cookie, 40 * cookie);
  sink.queues.atomic_responses.post_buffers(1);
  Bytes rest = std::as_bytes(std::span(data, size));
  while (!rest.empty()) {
    const std::size_t length = std::min(std::to_integer<std::size_t>(rest[0]), rest.size() - 1);
    if (!segment(sink, rest.subspan(1, length))) break;
    rest = rest.subspan(1 + length);
  }
  return 0;
}
