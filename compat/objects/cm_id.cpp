// SPDX-License-Identifier: Apache-2.0
// Identifiers: made, moved between channels, and freed once the program cannot hold an event about them any more.
#include <chrono>
#include <cstring>
#include <utility>

#include "compat/objects/cm.hpp"
#include "compat/objects/cm_objects.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"

namespace weft::compat {

CmId::CmId(verbs::ConnectionId made, std::uint64_t number, rdma_event_channel* reports_to, void* program_context,
           rdma_port_space space)
    : rdma_cm_id{}, ticket(number), engine(std::move(made)) {
  channel = reports_to;
  context = program_context;
  ps = space;
  qp_type = space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
  Registry<CmId>::instance().enter(ticket, *this);
}

CmId::~CmId() { Registry<CmId>::instance().leave(ticket); }

namespace {

// Programs that free what a connection used on RDMA_CM_EVENT_TIMEWAIT_EXIT want it, though not while they take it all
// down: rping prints it, and nfs-ganesha then waits for itself.
const verbs::Policy& identifier_policy() {
  static const verbs::Policy one = [] {
    verbs::Policy policy = connection_policy();
    policy.timeouts.timewait = std::chrono::seconds(2);
    return policy;
  }();
  return one;
}

bool known(std::int64_t space) {
  return space == RDMA_PS_TCP || space == RDMA_PS_UDP || space == RDMA_PS_IPOIB || space == RDMA_PS_IB;
}

}  // namespace

std::unique_ptr<CmId> make_cm_id(std::string_view call, rdma_event_channel* channel, void* context,
                                 std::int64_t space) {
  if (!known(space)) return refused_null(call, EINVAL, "no such port space");
  std::unique_ptr<CmChannel> own;
  if (channel == nullptr) {
    own = open_cm_channel(call);
    if (!own) return nullptr;
    channel = own.get();
  }
  const auto ticket = Registry<CmId>::instance().reserve();
  auto engine = verbs::ConnectionId::create(of(channel).engine, ticket);
  if (!engine) return refused_null(call, engine.error());
  if (const auto set = engine->set_policy(identifier_policy()); !set) return refused_null(call, set.error());
  auto id = std::make_unique<CmId>(std::move(*engine), ticket, channel, context, static_cast<rdma_port_space>(space));
  id->own_channel = std::move(own);
  return id;
}

int cm_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context, std::int64_t space) noexcept {
  return guarded_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_create_id", EINVAL, "id is null");
    auto made = make_cm_id("rdma_create_id", channel, context, space);
    if (!made) return -1;
    *id = made.release();
    return 0;
  });
}

int cm_destroy_id(rdma_cm_id* id) noexcept {
  return guarded_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_destroy_id", EINVAL, "id is null");
    CmId& gone = of(id);
    if (claim_minus_one("rdma_destroy_id", gone) != 0) return -1;
    if (gone.alive.inherited()) return 0;
    Registry<CmId>::instance().leave(gone.ticket);  // no further event can count
    release_event(gone);
    gone.events.wait_for_all();
    delete &gone;
    return 0;
  });
}

// --- Channels

namespace {

// The engine first: undelivered events move, so that the old channel does not count one that it will never deliver.
int move_to(CmId& id, CmChannel& to, std::unique_ptr<CmChannel> own, std::string_view call) {
  if (const auto moved = id.engine.migrate(to.engine); !moved) return refused_minus_one(call, moved.error());
  release_event(id);
  id.channel = &to;
  id.own_channel.swap(own);  // the former one ends with this function
  id.events.wait_for_all();
  return 0;
}

}  // namespace

int make_synchronous(CmId& id, std::string_view call) {
  auto own = open_cm_channel(call);
  if (!own) return -1;
  CmChannel& to = *own;
  return move_to(id, to, std::move(own), call);
}

int cm_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) noexcept {
  return guarded_minus_one([&] {
    if (id == nullptr) return refused_minus_one("rdma_migrate_id", EINVAL, "id is null");
    if (channel == nullptr) return make_synchronous(of(id), "rdma_migrate_id");
    return move_to(of(id), of(channel), nullptr, "rdma_migrate_id");
  });
}

// --- Options

namespace {

// What each option's value has to be long; 0: there is no such option.
std::size_t option_length(int name) {
  switch (name) {
    case RDMA_OPTION_ID_TOS:
    case RDMA_OPTION_ID_ACK_TIMEOUT: return sizeof(std::uint8_t);
    case RDMA_OPTION_ID_REUSEADDR:
    case RDMA_OPTION_ID_AFONLY: return sizeof(int);
    default: return 0;
  }
}

// `value` may be anywhere in the program's memory.
bool is_on(const void* value) {
  int number = 0;
  std::memcpy(&number, value, sizeof number);
  return number != 0;
}

verbs::Result<void> set_option(verbs::ConnectionId& id, int name, const void* value) {
  verbs::AddressOptions options = id.address_options();
  const bool on = option_length(name) == sizeof(int) && is_on(value);
  switch (name) {
    case RDMA_OPTION_ID_TOS: return id.set_type_of_service(*static_cast<const std::uint8_t*>(value));
    case RDMA_OPTION_ID_REUSEADDR: options.reuse = on; break;
    case RDMA_OPTION_ID_AFONLY: options.ipv6_only = on; break;
    // 4.096 us * 2^n, after which InfiniBand sends again, several times (retry_count), before it gives up. TCP decides
    // by itself when to send again, never sooner than after 200 ms. TCP_USER_TIMEOUT says when to give up: the same
    // time there (67 ms with the common 14) would end a connection for one lost packet. So this is told back, no more.
    default: return {};
  }
  return id.set_address_options(options);
}

}  // namespace

int cm_set_option(rdma_cm_id* id, int level, int name, void* value, size_t length) noexcept {
  const std::size_t wanted = level == RDMA_OPTION_ID ? option_length(name) : 0;
  if (id == nullptr) return refused_minus_one("rdma_set_option", EINVAL, "id is null");
  if (wanted == 0) return refused_minus_one("rdma_set_option", ENOSYS, "no such option on iWARP");
  if (value == nullptr || length != wanted) return refused_minus_one("rdma_set_option", EINVAL, "length of the value");
  return guarded_minus_one([&] {
    if (name == RDMA_OPTION_ID_ACK_TIMEOUT) {
      of(id).ack_timeout = *static_cast<const std::uint8_t*>(value);
      if (id->qp != nullptr) of(id->qp).set.timeout = *of(id).ack_timeout;
    }
    const auto set = set_option(of(id).engine, name, value);
    return set ? 0 : refused_minus_one("rdma_set_option", set.error());
  });
}

// --- Synchronous operation

void release_event(CmId& id) {
  if (rdma_cm_event* const held = std::exchange(id.event, nullptr)) cm_ack_cm_event(held);
}

int complete(CmId& id) {
  if (!id.synchronous()) return 0;
  release_event(id);
  if (cm_get_cm_event(id.channel, &id.event) != 0) return -1;
  if (id.event->status == 0) return 0;
  errno = id.event->status < 0 ? -id.event->status : id.event->status;
  return -1;
}

void refresh_pair(CmId& id) {
  Registry<Qp>::instance().with(id.pair, [](Qp& pair) { refresh_state(pair); });
}

}  // namespace weft::compat
