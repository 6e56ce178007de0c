// SPDX-License-Identifier: Apache-2.0
#include "ends.hpp"

#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

namespace weft::compat::test {

namespace {

constexpr int kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr int kResolveTimeout = 10000;  // ms

rdma_conn_param parameters(const Place& mine) {
  rdma_conn_param wanted{};
  wanted.private_data = &mine;
  wanted.private_data_len = sizeof mine;
  wanted.responder_resources = wanted.initiator_depth = 4;
  return wanted;
}

ibv_srq* create_shared(ibv_pd* domain, std::uint32_t depth) {
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = depth;
  attributes.attr.max_sge = 1;
  return must(ibv_create_srq(domain, &attributes), "ibv_create_srq");
}

}  // namespace

void must(int answer, const char* call) {
  if (answer != 0) throw std::runtime_error(std::string(call) + ": " + std::strerror(answer > 0 ? answer : errno));
}

void must_be_there(const void* pointer, const char* call) { must(pointer != nullptr ? 0 : -1, call); }

bool readable(int descriptor) {
  pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
  const auto patience = std::chrono::milliseconds(kPatience);
  return ::poll(&wanted, 1, static_cast<int>(patience.count())) == 1;
}

void wait_until(const std::function<bool()>& done, const char* what) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error(std::string("waited in vain for ") + what);
    std::this_thread::yield();
  }
}

// --- Events

Events::Events() : channel(must(rdma_create_event_channel(), "rdma_create_event_channel")) {}
Events::~Events() { rdma_destroy_event_channel(channel); }

Happened Events::next(rdma_cm_event_type wanted) const {
  if (!readable(channel->fd)) throw std::runtime_error(std::string("no ") + rdma_event_str(wanted));
  rdma_cm_event* event = nullptr;
  must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
  const rdma_cm_event_type got = event->event;
  Happened happened{.id = event->id};
  if (event->param.conn.private_data_len >= sizeof happened.place) {
    std::memcpy(&happened.place, event->param.conn.private_data, sizeof happened.place);
  }
  must(rdma_ack_cm_event(event), "rdma_ack_cm_event");
  if (got != wanted) throw std::runtime_error(std::string(rdma_event_str(got)) + " and not " + rdma_event_str(wanted));
  return happened;
}

// --- Identifiers

rdma_cm_id* create_id(const Events& events, rdma_port_space space) {
  rdma_cm_id* id = nullptr;
  must(rdma_create_id(events.channel, &id, nullptr, space), "rdma_create_id");
  return id;
}

rdma_cm_id* listening(const Events& events, rdma_port_space space) {
  rdma_cm_id* const id = create_id(events, space);
  sockaddr_in any = loopback(0);
  must(rdma_bind_addr(id, plain(any)), "rdma_bind_addr");
  must(rdma_listen(id, 8), "rdma_listen");
  return id;
}

rdma_cm_id* resolved(const Events& events, std::uint16_t port, rdma_port_space space) {
  rdma_cm_id* const id = create_id(events, space);
  sockaddr_in there = loopback(port);
  must(rdma_resolve_addr(id, nullptr, plain(there), kResolveTimeout), "rdma_resolve_addr");
  static_cast<void>(events.next(RDMA_CM_EVENT_ADDR_RESOLVED));
  must(rdma_resolve_route(id, kResolveTimeout), "rdma_resolve_route");
  static_cast<void>(events.next(RDMA_CM_EVENT_ROUTE_RESOLVED));
  return id;
}

// --- Ends

End::End(rdma_cm_id* identifier, const EndOptions& options)
    : id(identifier),
      memory(options.octets),
      domain(must(ibv_alloc_pd(id->verbs), "ibv_alloc_pd")),
      announcements(must(ibv_create_comp_channel(id->verbs), "ibv_create_comp_channel")),
      queue(
          must(ibv_create_cq(id->verbs, static_cast<int>(2 * options.depth), this, announcements, 0), "ibv_create_cq")),
      region(must(ibv_reg_mr(domain, memory.data(), memory.size(), kRights), "ibv_reg_mr")) {
  if (options.shared_receives) shared = create_shared(domain, options.depth);
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = queue;
  attributes.srq = shared;
  attributes.cap = {.max_send_wr = options.depth,
                    .max_recv_wr = options.depth,
                    .max_send_sge = 1,
                    .max_recv_sge = 1,
                    .max_inline_data = 0};
  attributes.qp_type = IBV_QPT_RC;
  must(rdma_create_qp(id, domain, &attributes), "rdma_create_qp");
}

End::~End() {
  rdma_destroy_qp(id);
  if (shared != nullptr) must(ibv_destroy_srq(shared), "ibv_destroy_srq");
  must(ibv_dereg_mr(region), "ibv_dereg_mr");
  must(ibv_destroy_cq(queue), "ibv_destroy_cq");
  must(ibv_destroy_comp_channel(announcements), "ibv_destroy_comp_channel");
  must(ibv_dealloc_pd(domain), "ibv_dealloc_pd");
  must(rdma_destroy_id(id), "rdma_destroy_id");
}

Place End::place() const { return {.address = reinterpret_cast<std::uintptr_t>(memory.data()), .rkey = region->rkey}; }

ibv_sge End::all() const {
  return {.addr = place().address, .length = static_cast<std::uint32_t>(memory.size()), .lkey = region->lkey};
}

void End::connect() const {
  const Place mine = place();
  rdma_conn_param wanted = parameters(mine);
  must(rdma_connect(id, &wanted), "rdma_connect");
}

void End::accept() const {
  const Place mine = place();
  rdma_conn_param wanted = parameters(mine);
  must(rdma_accept(id, &wanted), "rdma_accept");
}

void End::post_receive(std::uint64_t wr_id) const {
  ibv_sge segment = all();
  ibv_recv_wr request{.wr_id = wr_id, .next = nullptr, .sg_list = &segment, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  if (shared != nullptr) return must(ibv_post_srq_recv(shared, &request, &bad), "ibv_post_srq_recv");
  must(ibv_post_recv(id->qp, &request, &bad), "ibv_post_recv");
}

void End::post_send(std::uint64_t wr_id, ibv_wr_opcode opcode, const Place& at) const {
  ibv_sge segment = all();
  ibv_send_wr request{};
  request.wr_id = wr_id;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = at.address;
  request.wr.rdma.rkey = at.rkey;
  ibv_send_wr* bad = nullptr;
  must(ibv_post_send(id->qp, &request, &bad), "ibv_post_send");
}

std::vector<ibv_wc> End::completions(std::size_t count) const {
  std::vector<ibv_wc> all;
  wait_until(
      [&] {
        std::array<ibv_wc, 16> some;
        const int taken = ibv_poll_cq(queue, static_cast<int>(some.size()), some.data());
        if (taken < 0) throw std::runtime_error("ibv_poll_cq");
        all.insert(all.end(), some.begin(), some.begin() + taken);
        return all.size() >= count;
      },
      "completions");
  return all;
}

ibv_qp_state End::state() const {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  must(ibv_query_qp(id->qp, &attributes, IBV_QP_STATE, &init), "ibv_query_qp");
  return attributes.qp_state;
}

Connected::Connected(const EndOptions& options)
    : listener(listening(events)), client(resolved(events, ntohs(rdma_get_src_port(listener))), options) {
  client.connect();
  server.emplace(events.next(RDMA_CM_EVENT_CONNECT_REQUEST).id, options);
  server->accept();
  static_cast<void>(events.next(RDMA_CM_EVENT_ESTABLISHED));
  static_cast<void>(events.next(RDMA_CM_EVENT_ESTABLISHED));
}
Connected::~Connected() { rdma_destroy_id(listener); }

}  // namespace weft::compat::test
