// SPDX-License-Identifier: Apache-2.0
// Asynchronous events: the engine's, with libibverbs' values, turned into the object that the program knows.
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "compat/objects/enums.hpp"
#include "compat/objects/queue_pair.hpp"
#include "compat/objects/report.hpp"
#include "verbs/options.hpp"

namespace weft::compat {

namespace {

enum class About { kQueuePair, kCompletionQueue, kSharedQueue, kDevice, kNobody };

About about(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<std::underlying_type_t<verbs::AsyncEventType>>::max()) {
    return About::kNobody;
  }
  const auto type = static_cast<verbs::AsyncEventType>(value);
  using enum verbs::AsyncEventType;
  switch (type) {
    case kQueuePairFatal:
    case kQueuePairRequestError:
    case kQueuePairAccessError:
    case kCommunicationEstablished:
    case kSendQueueDrained:
    case kLastWqeReached: return About::kQueuePair;
    case kCompletionQueueError: return About::kCompletionQueue;
    case kSharedReceiveQueueError:
    case kSharedReceiveQueueLimit: return About::kSharedQueue;
    case kDeviceFatal:
    case kPortActive:
    case kPortError:
    case kAddressChange: return About::kDevice;
    case kEventsLost:
    case kStreamStalled: return About::kNobody;  // the latter is never raised here: no key of the policy asks for it
  }
  return About::kNobody;
}

// On InfiniBand, which a direct connection imitates, an error that the responder reports is in the requester's completion
// alone.
bool is_in_completion(const Qp& qp) {
  if (!qp.direct_state) return false;
  const auto error = qp.query().stream_error;
  return error && error->remote;
}

// Returns false when the program is not to see it: the object has gone meanwhile, it is in a completion, or the event only
// says that some were lost.
bool address(const verbs::AsyncEvent& event, ibv_async_event& to) {
  switch (about(std::to_underlying(event.type))) {
    case About::kQueuePair: {
      bool hidden = false;
      const bool lives = Registry<Qp>::instance().with(event.context, [&](Qp& qp) {
        hidden = event.type == verbs::AsyncEventType::kQueuePairFatal && is_in_completion(qp);
        if (hidden) return;
        // For a queue pair that the program connects itself, the field stays what the program set: UCX asserts that.
        if (!qp.direct_state) refresh_state(qp);
        qp.async_events.reported();
        to.element.qp = plain(qp);
      });
      return lives && !hidden;
    }
    case About::kCompletionQueue:
      return Registry<Cq>::instance().with(event.context, [&](Cq& cq) {
        cq.async_events.reported();
        to.element.cq = plain(cq);
      });
    case About::kSharedQueue:
      return Registry<Srq>::instance().with(event.context, [&](Srq& srq) {
        srq.async_events.reported();
        to.element.srq = &srq;
      });
    case About::kDevice: to.element.port_num = 1; return true;
    case About::kNobody: break;
  }
  verbs::log_line(verbs::LogLevel::kWarn, "asynchronous events were lost: the program did not take them in time");
  return false;
}

}  // namespace

int get_async_event(ibv_context* context, ibv_async_event* event) {
  return waiting_minus_one([&] {
    for (;;) {
      const auto got = of(context).engine.get_async_event();
      if (!got) {
        errno = got.error().to_errno();
        return -1;
      }
      event->event_type = static_cast<ibv_event_type>(got->type);
      if (address(*got, *event)) return 0;
    }
  });
}

void ack_async_event(ibv_async_event* event) noexcept {
  switch (about(number(event->event_type))) {
    case About::kQueuePair: return of(event->element.qp).async_events.acknowledged();
    case About::kCompletionQueue: return of(event->element.cq).async_events.acknowledged();
    case About::kSharedQueue: return of(event->element.srq).async_events.acknowledged();
    case About::kDevice:
    case About::kNobody: return;
  }
}

}  // namespace weft::compat
