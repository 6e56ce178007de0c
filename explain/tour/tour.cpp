// SPDX-License-Identifier: Apache-2.0
#include "explain/tour/tour.hpp"

#include <algorithm>
#include <array>

#include "explain/tour/conversation.hpp"

namespace weft::explain {
namespace {

using engine::Operation;
using engine::WorkRequest;

constexpr TourEnd kA = TourEnd::kInitiator, kB = TourEnd::kResponder;

// A buffer of the tour: what names it, and where it begins.
struct Buffer {
  std::uint32_t stag{};
  std::uint64_t begin{};
  std::uint32_t octets{};
};
constexpr Buffer kSource{0x0a000100, 0x7f00'0000'1000, 4096};   // the Initiator's own; what it sends lies there
constexpr Buffer kSink{0x0a000200, 0x7f00'0000'3000, 4096};     // of its Reads and atomics
constexpr Buffer kOpenToB{0x0a000300, 0x7f00'0000'5000, 1024};  // what the Responder may write and read
constexpr Buffer kTarget{0x0b000100, 0x5500'0000'2000, 4096};   // the Responder's, of RDMA Writes
constexpr Buffer kLibrary{0x0b000200, 0x5500'0000'4000, 4096};  // its source of RDMA Reads
constexpr Buffer kCounter{0x0b000300, 0x5500'0000'6000, 64};    // for atomic operations
constexpr Buffer kLentOnce{0x0b000400, 0x5500'0000'7000, 256};  // the first Send with Invalidate takes it back
constexpr Buffer kLentTwice{0x0b000500, 0x5500'0000'8000, 256};
constexpr Buffer kOwn{0x0b000600, 0x5500'0000'9000, 1024};  // what the Responder sends, and its sink

constexpr std::string_view kPoem =
    "Every octet of this line was placed where it belongs, and no processor copied it on the way. ";
constexpr std::string_view kBooks = "A page of the library, which the reader took without asking the librarian. ";

rdmap::LocalSegment part(const Buffer& buffer, std::uint32_t octets, std::uint32_t at = 0) {
  return {.address = buffer.begin + at, .length = octets, .lkey = buffer.stag};
}

// A work request with a list of one element, which it refers to.
class Work {
 public:
  Work(Operation operation, const rdmap::LocalSegment& local) : local_(local) {
    request_.operation = operation;
    if (local_.length != 0) request_.local = rdmap::LocalSegments(&local_, 1);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  WorkRequest* operator->() noexcept { return &request_; }
  [[nodiscard]] const WorkRequest& request() const noexcept { return request_; }
  void at(const Buffer& remote, std::uint64_t offset = 0) {
    request_.remote_stag = {remote.stag};
    request_.remote_offset = {remote.begin + offset};
  }

 private:
  rdmap::LocalSegment local_;
  WorkRequest request_{};
};

engine::Config config(mpa::Role role, bool markers, std::uint16_t ird, std::uint16_t ord) {
  engine::Config config;
  config.role = role;
  config.mpa.markers = markers;
  config.mpa.ird = ird;
  config.mpa.ord = ord;
  config.emss = TourWire::kMss;
  return config;
}

void lay_out_memory(Conversation& talk) {
  using enum rdmap::Access;
  rdmap::RegionTable& a = talk.memory(kA);
  rdmap::RegionTable& b = talk.memory(kB);
  // Fills the buffer with the text again and again.
  const auto add = [](rdmap::RegionTable& memory, const Buffer& buffer, rdmap::Access remote,
                      std::string_view text = {}) {
    auto& octets = memory.add(buffer.stag, buffer.octets, buffer.begin, kLocalWrite | remote).octets;
    for (std::size_t i = 0; i < octets.size() && !text.empty(); ++i)
      octets[i] = static_cast<std::byte>(text[i % text.size()]);
  };
  add(a, kSource, kNone, kPoem);
  add(a, kSink, kNone);
  add(a, kOpenToB, kRemoteWrite | kRemoteRead, kPoem);
  add(b, kTarget, kRemoteWrite);
  add(b, kLibrary, kRemoteRead, kBooks);
  add(b, kCounter, kRemoteRead | kRemoteAtomic);
  add(b, kLentOnce, kRemoteWrite);
  add(b, kLentTwice, kRemoteWrite);
  add(b, kOwn, kNone, kBooks);
  for (std::uint64_t i = 0; i < 16; ++i) {
    a.post_receive(i, 512);
    b.post_receive(i, 512);
  }
}

void send(Conversation& talk, TourEnd from, const Buffer& source, std::uint32_t octets) {
  talk.post(from, Work(Operation::kSend, part(source, octets)).request());
}

void write(Conversation& talk, TourEnd from, const Buffer& source, std::uint32_t octets, const Buffer& target) {
  Work work(Operation::kWrite, part(source, octets));
  work.at(target);
  talk.post(from, work.request());
}

void read(Conversation& talk, TourEnd by, const Buffer& sink, std::uint32_t octets, const Buffer& source) {
  Work work(Operation::kRead, part(sink, octets));
  work.at(source);
  work->sink_stag = {sink.stag};
  work->sink_offset = {sink.begin};
  talk.post(by, work.request());
}

void atomic(Conversation& talk, Operation operation, const rdmap::AtomicOperation& operands) {
  Work work(operation, part(kSink, 8, 4000));
  work.at(kCounter, 8);
  work->atomic = operands;
  talk.post(kA, work.request());
}

void send_with(Conversation& talk, bool solicited, const Buffer* invalidated) {
  Work work(Operation::kSend, part(kSource, 32));
  work->solicited = solicited;
  if (invalidated != nullptr) work->invalidate = ddp::Stag{invalidated->stag};
  talk.post(kA, work.request());
}

void immediate(Conversation& talk, Operation operation, std::uint32_t octets, bool solicited, std::string_view data) {
  Work work(operation, part(kSource, octets));
  if (octets != 0) work.at(kTarget, 3072);
  work->solicited = solicited;
  std::ranges::copy(std::as_bytes(std::span(data)), work->immediate.begin());
  talk.post(kA, work.request());
}

void every_send(Conversation& talk) {
  send_with(talk, true, nullptr);
  write(talk, kA, kSource, 100, kLentOnce);
  send_with(talk, false, &kLentOnce);
  write(talk, kA, kSource, 100, kLentTwice);
  send_with(talk, true, &kLentTwice);
  immediate(talk, Operation::kImmediate, 0, false, "eight oc");
  immediate(talk, Operation::kImmediate, 0, true, "wake up!");
  immediate(talk, Operation::kWriteImmediate, 200, false, "written.");
}

void every_atomic(Conversation& talk) {
  using enum rdmap::AtomicOperation::Kind;
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  atomic(talk, Operation::kFetchAdd, {.kind = kFetchAdd, .add_or_swap = 5});
  atomic(talk, Operation::kCmpSwap,
         {.kind = kCmpSwap, .add_or_swap = 99, .add_or_swap_mask = kAll, .compare = 5, .compare_mask = kAll});
  // Without a mask to compare by, it is a plain swap.
  atomic(talk, Operation::kCmpSwap, {.kind = kCmpSwap, .add_or_swap = 7, .add_or_swap_mask = kAll});
}

}  // namespace

// The Responder wants Markers and the Initiator does not, so one connection shows FPDUs with and without.
void play_tour(const std::function<void(const conformance::Packet&)>& take) {
  Conversation talk(config(mpa::Role::kInitiator, false, 4, 8), config(mpa::Role::kResponder, true, 8, 4), take);
  lay_out_memory(talk);
  talk.open("a library card", "welcome");
  write(talk, kA, kSource, 3000, kTarget);
  send(talk, kA, kSource, 64);
  send(talk, kB, kOwn, 75);
  read(talk, kA, kSink, 2000, kLibrary);
  every_atomic(talk);
  every_send(talk);
  write(talk, kB, kOwn, 300, kOpenToB);
  read(talk, kB, kOwn, 500, kOpenToB);
  write(talk, kA, kSource, 0, kTarget);
  write(talk, kA, kSource, 100, kLentOnce);  // which was taken back: the Responder terminates the stream
  talk.close();
}

}  // namespace weft::explain
