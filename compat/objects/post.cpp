// SPDX-License-Identifier: Apache-2.0
// ibv_post_send, ibv_post_recv, ibv_post_srq_recv: a linked list of work requests to the engine, without memory from
// the heap.
#include <array>
#include <cerrno>
#include <mutex>
#include <span>

#include "compat/objects/queue_pair.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/work_translation.hpp"

namespace weft::compat {

namespace {

constexpr std::size_t kPostedTogether = 32;
// Room for half of the segments that the requests may have: few requests have the maximum.
constexpr std::size_t kSegmentsTogether = kPostedTogether * kMaxSegments / 2;
constexpr std::size_t kMostOfList = 65536;
static_assert(verbs::DeviceLimits{}.max_srq_wr <= kMostOfList && verbs::DeviceLimits{}.max_qp_wr <= kMostOfList);

// The three queues that take work.
struct SendQueue {
  using Wr = ibv_send_wr;
  using Request = verbs::SendRequest;
  static constexpr std::string_view kCall = "ibv_post_send";
  verbs::PostResult post(std::span<const Request> requests) const {
    if (qp.direct_state) return post_direct(qp, requests);
    return qp.engine.post_send(requests);
  }
  Qp& qp;
};

struct DatagramQueue {
  using Wr = ibv_send_wr;
  using Request = verbs::DatagramRequest;
  static constexpr std::string_view kCall = "ibv_post_send";
  verbs::PostResult post(std::span<const Request> requests) const { return engine.post_send(requests); }
  verbs::DatagramQueuePair& engine;
};

template <typename Engine>
struct ReceiveQueue {
  using Wr = ibv_recv_wr;
  using Request = verbs::ReceiveRequest;
  static constexpr std::string_view kCall =
      std::is_same_v<Engine, verbs::SharedReceiveQueue> ? "ibv_post_srq_recv" : "ibv_post_recv";
  verbs::PostResult post(std::span<const Request> requests) const { return engine.post_receive(requests); }
  Engine& engine;
};

// What no queue pair here can do is told at the default log level: programs seldom name the opcode.
int refuse(std::string_view call, int error) {
  return error == EOPNOTSUPP ? refused_for_good(call, error, why_not(error)) : refused(call, error, why_not(error));
}

template <typename Queue>
int post_single(const Queue& queue, const typename Queue::Wr& wr) {
  SgeArray segments;
  typename Queue::Request request;
  if (const int error = translate(wr, segments.data(), request); error != 0) {
    return refuse(Queue::kCall, error);
  }
  const auto posted = queue.post({&request, 1});
  return posted ? 0 : refused(Queue::kCall, posted.error().error);
}

template <typename Request>
std::size_t segments_of(const Request& request) {
  return request.segments.size();
}
std::size_t segments_of(const verbs::DatagramRequest& request) { return request.send.segments.size(); }

template <typename Wr>
Wr* advanced(Wr* wr, std::size_t steps) {
  for (; steps != 0; --steps) wr = wr->next;
  return wr;
}

// Up to kPostedTogether requests with kSegmentsTogether, counted in `posted`. `next` becomes the one after them, or the
// one that was refused. Never inlined: a list of one does not pay for this much stack.
template <typename Queue>
[[gnu::noinline]] int post_batch(const Queue& queue, typename Queue::Wr*& next, std::size_t& posted) {
  RawArray<typename Queue::Request, kPostedTogether> requests;
  RawArray<verbs::Sge, kSegmentsTogether> segments;
  std::size_t used = 0;
  auto* const first = next;
  std::size_t count = 0;
  int error = 0;
  const auto room = [&] { return count < kPostedTogether && kSegmentsTogether - used >= kMaxSegments; };
  for (auto* wr = first; wr != nullptr && room(); wr = wr->next) {
    auto& request = requests.make(count);
    error = translate(*wr, segments.data() + used, request);
    if (error != 0) break;
    used += segments_of(request);
    ++count;
  }
  verbs::PostResult result;
  if (count != 0) result = queue.post({requests.data(), count});
  next = advanced(first, result ? count : result.error().posted);
  posted += count;
  if (!result) return refused(Queue::kCall, result.error().error);
  return error == 0 ? 0 : refuse(Queue::kCall, error);
}

// A queue pair in ERROR flushes what is posted at once, and so takes any number: a circular list would have no end. No
// queue holds more than kMostOfList.
template <typename Queue>
int post_list(const Queue& queue, typename Queue::Wr*& next) {
  if (next != nullptr && next->next == nullptr) return post_single(queue, *next);  // nearly always
  int error = 0;
  for (std::size_t posted = 0; next != nullptr && error == 0;) {
    if (posted >= kMostOfList) return refused(Queue::kCall, ENOMEM, "the list is longer than any queue");
    error = post_batch(queue, next, posted);
  }
  return error;
}

// What precedes *bad was posted.
template <typename Queue>
int post(const Queue& queue, typename Queue::Wr* requests, typename Queue::Wr** bad) noexcept {
  const int error = quickly_errno([&] { return post_list(queue, requests); });
  if (error != 0) *bad = requests;
  return error;
}

}  // namespace

int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) noexcept {
  if (of(qp).datagrams) return post(DatagramQueue{*of(qp).datagrams}, requests, bad);
  const SendQueue queue{of(qp)};
  if (!of(qp).builder) return post(queue, requests, bad);
  const std::lock_guard lock(of(qp).builder->mutex);  // ibv_wr_start to ibv_wr_complete has the send queue to itself
  return post(queue, requests, bad);
}

int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) noexcept {
  if (of(qp).datagrams) return post(ReceiveQueue{*of(qp).datagrams}, requests, bad);
  return post(ReceiveQueue{of(qp).engine}, requests, bad);
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* requests, ibv_recv_wr** bad) noexcept {
  return post(ReceiveQueue{of(srq).engine}, requests, bad);
}

}  // namespace weft::compat
