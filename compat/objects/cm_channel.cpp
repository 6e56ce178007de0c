// SPDX-License-Identifier: Apache-2.0
// Event channels: how the engine's events become rdma_cm_event, and how those are acknowledged.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat {

namespace {

// A share of its own: a thread that waits keeps the engine's channel, whatever becomes of the program's. A program may
// destroy one that its other thread is about to read (rping does, at its end): that is its mistake, but it gets EBADF
// for it.
std::optional<verbs::EventChannel> engine_of(rdma_event_channel* channel) {
  std::optional<verbs::EventChannel> share;
  Living<CmChannel>::instance().with(&of(channel), [&] { share = of(channel).engine; });
  return share;
}

// An identifier that cannot be freed, because one of its events counts as reported.
class Hold {
 public:
  explicit Hold(std::uint64_t ticket) {
    Registry<CmId>::instance().with(ticket, [this](CmId& id) {
      id.events.reported();
      id_ = &id;
    });
  }
  ~Hold() {
    if (id_ != nullptr) id_->events.acknowledged();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return id_ != nullptr; }
  [[nodiscard]] CmId& operator*() const noexcept { return *id_; }
  // For the event that the program acknowledges.
  [[nodiscard]] CmId* keep() noexcept { return std::exchange(id_, nullptr); }

 private:
  CmId* id_ = nullptr;
};

template <typename Count>
std::uint8_t octet(Count count) {
  constexpr Count kMost = std::numeric_limits<std::uint8_t>::max();
  return static_cast<std::uint8_t>(std::min(count, kMost));
}

// responder_resources is what the peer wants of us at most, initiator_depth what it takes from us: the same words for
// a request, for what was settled, and for what rdma_accept(3) is to answer.
void set_parameters(CmEvent& report, verbs::ConnectionEvent& happened) {
  report.private_data = std::move(happened.private_data);
  auto& parameters = report.param.conn;
  parameters.private_data = report.private_data.empty() ? nullptr : report.private_data.data();
  parameters.private_data_len = octet(report.private_data.size());
  parameters.responder_resources = octet(happened.ird);
  parameters.initiator_depth = octet(happened.ord);
}

void set_failure(CmEvent& report, const verbs::ConnectionEvent& happened) {
  if (!happened.error) return;
  const bool rejected = happened.type == verbs::ConnectionEventType::kRejected;
  report.status = rejected ? -ECONNREFUSED : -happened.error->to_errno();
}

// What the event changes in the identifier, before the program hears of it.
void apply(CmId& id, verbs::ConnectionEventType type, CmEvent& report) {
  using enum verbs::ConnectionEventType;
  if (type == kEstablished) id.connected = true;
  if (type == kDisconnected) id.connected = false;
  if (type == kEstablished) adopt_local_address(id);  // a second attempt, with revision 1, has another port
  if (const int error = type == kAddressResolved ? adopt_local_address(id) : 0; error != 0) {
    report.event = RDMA_CM_EVENT_ADDR_ERROR;
    report.status = -error;
  }
  refresh_pair(id);
}

// The answer to a question about datagrams is the peer's rejection. False if the event is none for the program.
bool describe_answer(CmId& id, verbs::ConnectionEventType type, CmEvent& report) {
  using enum verbs::ConnectionEventType;
  if (type == kDisconnected || type == kTimewaitExit) return false;
  if (type == kAddressResolved || type == kAddressError || type == kRouteResolved) return true;
  const bool answered = describe_datagrams(report, id.engine.remote_address().address, DatagramMessage::Kind::kAnswer);
  if (type == kEstablished) static_cast<void>(id.engine.disconnect());  // the peer expects a connection
  report.event = answered && type == kRejected ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_UNREACHABLE;
  report.status = report.event == RDMA_CM_EVENT_ESTABLISHED ? 0 : report.status != 0 ? report.status : -EPROTO;
  return true;
}

bool describe(CmEvent& report, verbs::ConnectionEvent& happened) {
  Hold subject(happened.context);
  if (!subject) return false;
  report.id = &*subject;
  report.event = static_cast<rdma_cm_event_type>(happened.type);
  set_parameters(report, happened);
  set_failure(report, happened);
  const bool group = happened.type == verbs::ConnectionEventType::kMulticastJoin;
  if (group && !describe_multicast(report, *subject)) return false;
  if (!group && has_datagrams(*subject) && !describe_answer(*subject, happened.type, report)) return false;
  if (happened.type == verbs::ConnectionEventType::kEstablished && (*subject).establishes) {
    report.event = RDMA_CM_EVENT_CONNECT_RESPONSE;
  }
  apply(*subject, happened.type, report);
  report.counts_for = subject.keep();
  return true;
}

// A listener's own device needs no search: that asks the kernel for all interfaces.
int adopt_request_address(CmId& id, const CmId& listener) {
  id.engine.remote_address().to_sockaddr(id.route.addr.dst_storage);
  const int error = listener.verbs != nullptr ? adopt_device(id, of(listener.verbs)) : 0;
  return error != 0 ? error : adopt_local_address(id);
}

// The identifier of a connection request. Null when it cannot be had: the request is dropped, which rejects it.
std::unique_ptr<CmId> make_request_id(CmChannel& channel, CmId& listener, verbs::ConnectionId request) {
  const auto ticket = Registry<CmId>::instance().reserve();
  request.set_context(ticket);
  auto id = std::make_unique<CmId>(std::move(request), ticket, &channel, listener.context, listener.ps);
  id->qp_type = listener.qp_type;
  if (const int error = adopt_request_address(*id, listener); error != 0) {
    refused("rdma_get_cm_event", error, "a connection request is dropped: its address has no device");
    return nullptr;
  }
  if (listener.synchronous() && make_synchronous(*id, "rdma_get_cm_event") != 0) return nullptr;
  return id;
}

bool describe_request(CmChannel& channel, CmEvent& report, verbs::ConnectionEvent& happened) {
  Hold listener(happened.context);
  if (!listener || !happened.request) return false;
  auto id = make_request_id(channel, *listener, std::move(*happened.request));
  if (!id) return false;
  set_parameters(report, happened);
  if (has_datagrams(*id) &&
      !describe_datagrams(report, id->engine.remote_address().address, DatagramMessage::Kind::kQuestion)) {
    refused("rdma_get_cm_event", EPROTO, "a connection request is dropped: its listener is of RDMA_PS_UDP");
    return false;
  }
  report.event = RDMA_CM_EVENT_CONNECT_REQUEST;
  report.id = id.release();
  report.listen_id = report.counts_for = listener.keep();
  return true;
}

}  // namespace

std::unique_ptr<CmChannel> open_cm_channel(std::string_view call) {
  connection_policy();  // so that a faulty setting is told where the program begins, and log and capture are set
  auto engine = verbs::EventChannel::create();
  if (!engine) return refused_null(call, engine.error());
  return std::make_unique<CmChannel>(std::move(*engine));
}

rdma_event_channel* cm_create_event_channel() noexcept {
  return guarded_null([]() -> rdma_event_channel* { return open_cm_channel("rdma_create_event_channel").release(); });
}

void cm_destroy_event_channel(rdma_event_channel* channel) noexcept {
  guarded_minus_one([&] {
    if (channel != nullptr && claim("rdma_destroy_event_channel", of(channel)) == 0) dispose(of(channel));
    return 0;
  });
}

int cm_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  return waiting_minus_one([&] {
    if (channel == nullptr || event == nullptr) return refused_minus_one("rdma_get_cm_event", EINVAL, "null pointer");
    auto report = std::make_unique<CmEvent>();  // first: without memory for it, no event is lost
    auto engine = engine_of(channel);
    if (!engine) return refused_minus_one("rdma_get_cm_event", EBADF, "there is no such channel any more");
    for (;;) {
      auto happened = engine->get_event();
      if (!happened) {  // not logged: programs poll, and signals are no failure
        errno = happened.error().to_errno();
        return -1;
      }
      const bool request = happened->type == verbs::ConnectionEventType::kConnectRequest;
      if (request ? describe_request(of(channel), *report, *happened) : describe(*report, *happened)) break;
    }
    *event = report.release();
    return 0;
  });
}

int cm_ack_cm_event(rdma_cm_event* event) noexcept {
  if (event == nullptr) return refused_minus_one("rdma_ack_cm_event", EINVAL, "event is null");
  return guarded_minus_one([&] {
    if (claim_minus_one("rdma_ack_cm_event", of(event)) != 0) return -1;
    CmId* const subject = of(event).counts_for;
    delete &of(event);
    if (subject != nullptr) subject->events.acknowledged();  // last: it may be freed from here on
    return 0;
  });
}

}  // namespace weft::compat
