// SPDX-License-Identifier: Apache-2.0
#include "tools/probe_peer/guest.hpp"

#include <algorithm>
#include <array>

#include "common/crc32c.hpp"
#include "tools/probe_peer/must.hpp"

namespace weft::tools::probe_peer {
namespace {

using probe::Wish;

constexpr std::uint16_t kMostReceiveSize = 4096;
constexpr std::uint8_t kAllRights = Region::kRead | Region::kWrite | Region::kAtomic;
constexpr std::uint32_t kWindowFrom = 1024;  // of 4096
constexpr std::uint32_t kWindowSize = 2048;

verbs::QueuePair pair_for(Resources& resources, Session& session, const Wish& wish) {
  auto& domain = session.domain((wish.flags & Wish::kOtherDomain) != 0);
  const bool waits = (wish.flags & Wish::kSolicitedOnly) != 0;
  verbs::QueuePairAttributes attributes{.send_cq = &resources.completions,
                                        .receive_cq = waits ? &resources.waiting : &resources.completions};
  attributes.max_send_wr = Guest::kMostRequests;
  attributes.max_receive_wr = 2 * Guest::kMostReceives;
  const bool shared = (wish.flags & Wish::kSharedReceives) != 0 && (wish.flags & Wish::kOtherDomain) == 0;
  if (shared) attributes.srq = &session.shared_receives(wish.receives, wish.receive_size);
  auto pair = must(domain.create_queue_pair(attributes), "queue pair");
  must(pair.modify(verbs::QpState::kInit), "INIT");
  return pair;
}

Wish bounded(Wish wish) noexcept {
  wish.receives = std::min(wish.receives, Guest::kMostReceives);
  wish.receive_size = std::clamp<std::uint16_t>(wish.receive_size, 1, kMostReceiveSize);
  return wish;
}

bool shares(const Wish& wish) noexcept {
  return (wish.flags & (Wish::kSharedReceives | Wish::kOtherDomain)) == Wish::kSharedReceives;
}

}  // namespace

Guest::Guest(Resources& resources, std::shared_ptr<Session> session, const Wish& wish, std::uint32_t number)
    : session_(std::move(session)),
      wish_(bounded(wish)),
      number_(number),
      pair_(pair_for(resources, *session_, wish_)) {
  auto& domain = session_->domain((wish_.flags & Wish::kOtherDomain) != 0);
  this_stream_ = make_region(domain, Region::kThisStream, kAllRights, 4096, {.only_for = &pair_});
  windowed_ = make_region(domain, Region::kWindow, kAllRights, 4096);
  for (const std::uint8_t rights : std::array<std::uint8_t, 3>{kAllRights, Region::kRead, Region::kWrite}) {
    verbs::MemoryWindow window = must(domain.allocate_window(), "window");
    const std::uint32_t key = window.next_rkey();
    windows_.push_back({std::move(window), key, rights});
  }
  if (!shares(wish_)) {
    const std::size_t size = std::max<std::size_t>(1, std::size_t{wish_.receives}) * wish_.receive_size;
    receives_ = make_region(domain, Region::kReceives, Region::kRead, size);
    for (std::uint32_t i = 0; i < wish_.receives; ++i) post_receive(i);
  }
  ++session_->connections;
  ++session_->report.connections;
  session_->publish();
}

Guest::~Guest() {
  note_end();
  --session_->connections;
  session_->idle_since = std::chrono::steady_clock::now();
}

probe::Advert Guest::advert(std::uint16_t ird, std::uint16_t ord) const {
  const bool shared = shares(wish_);
  probe::Advert out{.session = session_->number(),
                    .connection = number_,
                    .receives = shared ? session_->receive_count : wish_.receives,
                    .receive_size = shared ? session_->receive_size : wish_.receive_size};
  out.ird = ird;
  out.ord = ord;
  out.contract = probe::kContract;
  out.regions = session_->regions();
  out.regions.push_back(this_stream_.told);
  for (const Window& one : windows_) {
    Region window = windowed_.told;
    window.stag = {one.key};
    window.offset = {window.offset.value + kWindowFrom};
    window.length = kWindowSize;
    window.rights = one.rights;
    out.regions.push_back(window);
  }
  out.regions.push_back(shared ? session_->receives.told : receives_.told);
  return out;
}

void Guest::begin(bool speak) {
  for (const Window& one : windows_) {
    verbs::SendRequest bind{.wr_id = kBindWork, .opcode = verbs::SendOpcode::kBindWindow};
    bind.bind = {.window = &one.window,
                 .region = &*windowed_.region,
                 .rkey = one.key,
                 .address = windowed_.region->iova() + kWindowFrom,
                 .length = kWindowSize,
                 .access = remote_access_of(one.rights)};
    post(bind);
  }
  if (speak) post({.wr_id = kSpeakWork, .opcode = verbs::SendOpcode::kRdmaWrite});
  begun_ = true;
}

void Guest::chat() {
  if (!begun_ || chatting_ != 0) return;
  constexpr std::array<std::byte, 7> kWords{};
  const verbs::Sge words{reinterpret_cast<std::uintptr_t>(kWords.data()), kWords.size(), 0};
  using verbs::SendFlags;
  using verbs::SendOpcode;
  const auto say = [this](SendOpcode opcode, SendFlags flags = {}, std::span<const verbs::Sge> segments = {}) {
    if (post({.wr_id = kChatWork, .opcode = opcode, .flags = SendFlags::kSignaled | flags, .segments = segments}))
      ++chatting_;
  };
  say(SendOpcode::kRdmaWrite);
  say(SendOpcode::kSend, SendFlags::kInline, {&words, 1});
  say(SendOpcode::kRdmaRead);
}

bool Guest::post(verbs::SendRequest request) {
  request.wr_id |= std::uint64_t{number_} << 32U;
  return pair_.post_send(request).has_value();
}

// Buffers are used in turn; a receive that has no buffer of its own takes that of an earlier one.
void Guest::post_receive(std::uint32_t index) {
  if (shares(wish_)) return session_->post_shared_receive(index);
  const std::uint32_t buffer = index % std::max<std::uint32_t>(1, wish_.receives);
  const verbs::Sge where = receives_.region->sge(std::size_t{buffer} * wish_.receive_size, wish_.receive_size);
  if (pair_.post_receive(
          verbs::ReceiveRequest{.wr_id = std::uint64_t{number_} << 32U | kReceive | buffer, .segments = {&where, 1}}))
    ++posted_;
}

void Guest::completed(const verbs::WorkCompletion& done) {
  probe::PeerReport& report = session_->report;
  const auto kind = static_cast<std::uint32_t>(done.wr_id);
  const bool receive = (kind & kReceive) != 0 || done.wr_id >> 32U == 0;
  const bool good = done.status == verbs::WcStatus::kSuccess;
  if (!good && done.status != verbs::WcStatus::kFlushed) report.last_failure = static_cast<std::uint32_t>(done.status);
  if (receive) {
    if (good) {
      received(done);
    } else {
      ++report.receives_failed;
      if (shares(wish_)) post_receive(kind);  // the other connections keep as many
    }
  } else if (kind == kChatWork) {
    if (chatting_ > 0) --chatting_;
  } else if (kind == kOrderWork) {
    ++(good ? report.requests_done : report.requests_failed);
    if (unfinished_ > 0) --unfinished_;
    answer_when_done();
  }
  session_->publish();
}

void Guest::received(const verbs::WorkCompletion& done) {
  probe::PeerReport& report = session_->report;
  const bool shared = shares(wish_);
  const auto index = static_cast<std::uint32_t>(done.wr_id) & ~kReceive;
  const Registered& memory = shared ? session_->receives : receives_;
  const std::size_t size = shared ? session_->receive_size : wish_.receive_size;
  const Bytes octets(memory.octets.get() + std::size_t{index} * size, std::min<std::size_t>(done.byte_len, size));
  ++report.receives_done;
  report.last_length = done.byte_len;
  report.last_opcode = done.with_immediate ? 8 : done.with_invalidate ? 4 : 3;
  if (done.solicited) report.last_opcode += done.with_immediate ? 1 : 2;
  if (done.with_invalidate) report.last_invalidated = done.invalidated_rkey;
  if (done.with_immediate) {
    report.last_immediate_high = Be<0, std::uint32_t>::get(done.immediate);
    report.last_immediate_low = Be<4, std::uint32_t>::get(done.immediate);
  }
  report.last_sum = weft::crc32c(octets);
  const auto order = done.with_immediate ? std::nullopt : probe::parse_order(octets);
  // The buffer is free again before what it orders is done: its own answer may provoke the next Send.
  if ((shared ? session_->receive_count : wish_.receives) > 0) post_receive(index);
  if (order) carry_out(*order);
}

void Guest::note_terminate() {
  const auto error = pair_.query().stream_error;
  if (!error) return;
  const std::uint32_t said =
      0x01000000U | std::uint32_t{error->layer} << 16U | std::uint32_t{error->type} << 8U | error->code;
  (error->remote ? session_->report.terminate_received : session_->report.terminate_sent) = said;
}

void Guest::note_end() {
  if (std::exchange(ended_, true)) return;
  note_terminate();
  ++session_->report.connections_ended;
  session_->publish();
}

}  // namespace weft::tools::probe_peer
