// SPDX-License-Identifier: Apache-2.0
// The calls of libibverbs, librdmacm and rsockets without memory: each allocation of each call fails once. Nothing is
// thrown through a program in C, and its objects can be used and destroyed. What a call returns is not looked at.
#include <gtest/gtest.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>
#include <sys/mman.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ends.hpp"
#include "silent_ends.hpp"
#include "tests/verbs/failing_allocation.hpp"
#include "things.hpp"

namespace weft::compat::test {
namespace {

using Call = std::function<void()>;
using Prepare = std::function<Call()>;

template <typename Scene>
Prepare on(void (*call)(Scene&)) {
  return [call] {
    auto scene = std::make_shared<Scene>();
    return [scene, call]() noexcept { call(*scene); };  // what is thrown ends the test
  };
}

struct Row {
  const char* name;
  Prepare prepare;
};

class FailedCCalls : public testing::TestWithParam<Row> {};

TEST_P(FailedCCalls, ThrowNothingAndLeaveAllUsable) {
  RecordProperty("allocations", weft::test::fail_each_allocation(GetParam().prepare));
}

// --- libibverbs

struct OfThings {
  Things things;
  std::array<char, 4096> octets{};
  ibv_mr* region = have(ibv_reg_mr(things.pd, octets.data(), octets.size(), kAll), "ibv_reg_mr");
  ibv_mw* window = have(ibv_alloc_mw(things.pd, IBV_MW_TYPE_2), "ibv_alloc_mw");
  static constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
                              IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_ATOMIC;
  OfThings() = default;
  OfThings(const OfThings&) = delete;
  OfThings& operator=(const OfThings&) = delete;
  ~OfThings() {
    if (window != nullptr) ibv_dealloc_mw(window);
    if (region != nullptr) ibv_dereg_mr(region);
  }
};

// A datagram that it receives itself.
void send_to_itself(ibv_qp* qp, ibv_ah* ah) {
  ibv_qp_attr to{};
  to.port_num = 1;
  to.qkey = 5;
  for (const auto& [state, mask] : {std::pair{IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
                                    std::pair{IBV_QPS_RTR, 0}, std::pair{IBV_QPS_RTS, int{IBV_QP_SQ_PSN}}}) {
    to.qp_state = state;
    if (ibv_modify_qp(qp, &to, IBV_QP_STATE | mask) != 0) return;
  }
  ibv_send_wr send{}, *bad_send = nullptr;
  ibv_recv_wr receive{}, *bad_receive = nullptr;
  send.opcode = IBV_WR_SEND;
  send.wr.ud.ah = ah;
  send.wr.ud.remote_qpn = qp->qp_num;
  send.wr.ud.remote_qkey = 5;
  ibv_post_send(qp, &send, &bad_send);
  ibv_post_recv(qp, &receive, &bad_receive);
  ibv_wc completion{};
  ibv_poll_cq(qp->recv_cq, 1, &completion);
}

std::vector<Row> of_verbs() {
  using T = OfThings;
  return {
      {"GetDeviceList", on<T>([](T&) {
         int count = 0;
         if (ibv_device** const list = ibv_get_device_list(&count); list != nullptr) ibv_free_device_list(list);
       })},
      {"OpenDevice", on<T>([](T& at) {
         if (ibv_context* const opened = ibv_open_device(at.things.context->device); opened != nullptr)
           ibv_close_device(opened);
       })},
      {"Queries", on<T>([](T& at) {
         ibv_device_attr device{};
         ibv_device_attr_ex extended{};
         ibv_port_attr port{};
         ibv_gid gid{};
         ibv_query_device(at.things.context, &device);
         ibv_query_device_ex(at.things.context, nullptr, &extended);
         ibv_query_port(at.things.context, 1, &port);
         ibv_query_gid(at.things.context, 1, 0, &gid);
       })},
      {"AllocPd", on<T>([](T& at) {
         if (ibv_pd* const pd = ibv_alloc_pd(at.things.context); pd != nullptr) ibv_dealloc_pd(pd);
       })},
      {"RegMr", on<T>([](T& at) {
         if (ibv_mr* const made = ibv_reg_mr(at.things.pd, at.octets.data(), 64, T::kAll); made != nullptr)
           ibv_dereg_mr(made);
       })},
      {"ReregMr", on<T>([](T& at) {
         ibv_rereg_mr(at.region, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE);
       })},
      {"AllocMw", on<T>([](T& at) {
         if (ibv_mw* const made = ibv_alloc_mw(at.things.pd, IBV_MW_TYPE_1); made != nullptr) ibv_dealloc_mw(made);
       })},
      {"CreateCompChannel", on<T>([](T& at) {
         if (ibv_comp_channel* const made = ibv_create_comp_channel(at.things.context); made != nullptr)
           ibv_destroy_comp_channel(made);
       })},
      {"CreateCq", on<T>([](T& at) {
         if (ibv_cq* const made = ibv_create_cq(at.things.context, 8, nullptr, nullptr, 0); made != nullptr)
           ibv_destroy_cq(made);
       })},
      {"CreateCqEx", on<T>([](T& at) {
         ibv_cq_init_attr_ex wanted{};
         wanted.cqe = 8;
         wanted.wc_flags = IBV_WC_STANDARD_FLAGS;
         if (ibv_cq_ex* const made = ibv_create_cq_ex(at.things.context, &wanted); made != nullptr)
           ibv_destroy_cq(ibv_cq_ex_to_cq(made));
       })},
      {"ResizeCq", on<T>([](T& at) { ibv_resize_cq(at.things.cq, 500); })},
      {"NotifyAndPoll", on<T>([](T& at) {
         ibv_wc one{};
         ibv_req_notify_cq(at.things.cq, 0);
         ibv_poll_cq(at.things.cq, 1, &one);
       })},
      {"CreateSrq", on<T>([](T& at) {
         ibv_srq_init_attr wanted{};
         wanted.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
         if (ibv_srq* const made = ibv_create_srq(at.things.pd, &wanted); made != nullptr) ibv_destroy_srq(made);
       })},
      {"ModifySrq", on<T>([](T& at) {
         ibv_srq_attr wanted{.max_wr = 100, .max_sge = 1, .srq_limit = 0};
         ibv_modify_srq(at.things.srq, &wanted, IBV_SRQ_MAX_WR);
       })},
      {"CreateQp", on<T>([](T& at) {
         ibv_qp_init_attr wanted = Things::qp_wishes(at.things.cq);
         if (ibv_qp* const made = ibv_create_qp(at.things.pd, &wanted); made != nullptr) ibv_destroy_qp(made);
       })},
      {"ModifyQp", on<T>([](T& at) {
         for (const auto state : {IBV_QPS_INIT, IBV_QPS_ERR, IBV_QPS_RESET}) modify(at.things.qp, state);
       })},
      {"QueryQp", on<T>([](T& at) {
         ibv_qp_attr attributes{};
         ibv_qp_init_attr made{};
         ibv_query_qp(at.things.qp, &attributes, IBV_QP_STATE, &made);
       })},
      {"Post", on<T>([](T& at) {
         ibv_send_wr send{}, *bad_send = nullptr;
         ibv_recv_wr receive{}, *bad_receive = nullptr;
         modify(at.things.qp, IBV_QPS_ERR);
         ibv_post_send(at.things.qp, &send, &bad_send);
         ibv_post_recv(at.things.qp, &receive, &bad_receive);
         ibv_post_srq_recv(at.things.srq, &receive, &bad_receive);
       })},
      {"Datagrams", on<T>([](T& at) {
         ibv_qp_init_attr wanted = Things::qp_wishes(at.things.cq);
         wanted.qp_type = IBV_QPT_UD;
         ibv_qp* const ud = ibv_create_qp(at.things.pd, &wanted);
         ibv_ah_attr path{};
         path.dlid = 1;  // 127.0.0.1
         path.port_num = 1;
         ibv_ah* const ah = ibv_create_ah(at.things.pd, &path);
         if (ud != nullptr && ah != nullptr) send_to_itself(ud, ah);
         if (ah != nullptr) ibv_destroy_ah(ah);
         if (ud != nullptr) ibv_destroy_qp(ud);
       })},
      {"Destroy", on<T>([](T& at) {
         if (at.window != nullptr && ibv_dealloc_mw(at.window) == 0) at.window = nullptr;
         if (at.region != nullptr && ibv_dereg_mr(at.region) == 0) at.region = nullptr;
         if (at.things.qp != nullptr && ibv_destroy_qp(at.things.qp) == 0) at.things.qp = nullptr;
         if (at.things.srq != nullptr && ibv_destroy_srq(at.things.srq) == 0) at.things.srq = nullptr;
         if (at.things.cq != nullptr && ibv_destroy_cq(at.things.cq) == 0) at.things.cq = nullptr;
         if (at.things.channel != nullptr && ibv_destroy_comp_channel(at.things.channel) == 0)
           at.things.channel = nullptr;
         if (at.things.pd != nullptr && ibv_dealloc_pd(at.things.pd) == 0) at.things.pd = nullptr;
         if (at.things.context != nullptr && ibv_close_device(at.things.context) == 0) at.things.context = nullptr;
       })},
  };
}

// --- librdmacm

struct OfId {
  Events events;
  rdma_cm_id* id = nullptr;
  OfId() { must(rdma_create_id(events.channel, &id, nullptr, RDMA_PS_TCP), "rdma_create_id"); }
  OfId(const OfId&) = delete;
  OfId& operator=(const OfId&) = delete;
  ~OfId() {
    if (id->qp != nullptr) rdma_destroy_qp(id);
    rdma_destroy_id(id);
  }
};

struct OfResolved {
  Events events;
  SilentListener nobody;
  rdma_cm_id* id = resolved(events, nobody.port());
  OfResolved() = default;
  OfResolved(const OfResolved&) = delete;
  OfResolved& operator=(const OfResolved&) = delete;
  ~OfResolved() {
    if (id->qp != nullptr) rdma_destroy_qp(id);
    rdma_destroy_id(id);
  }
  void create_qp() const {
    ibv_qp_init_attr wanted = Things::qp_wishes(nullptr);
    rdma_create_qp(id, nullptr, &wanted);
  }
};

struct OfConnected : OfResolved {
  OfConnected() { create_qp(); }
};

struct OfRequest {
  Events events;
  rdma_cm_id* listener = listening(events);
  SilentPeer peer;
  rdma_cm_id* id = nullptr;
  OfRequest() {
    peer.connect(ntohs(rdma_get_src_port(listener)));
    peer.send(Request::kRevision1);
    id = events.next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
    ibv_qp_init_attr wanted = Things::qp_wishes(nullptr);
    must(rdma_create_qp(id, nullptr, &wanted), "rdma_create_qp");
  }
  OfRequest(const OfRequest&) = delete;
  OfRequest& operator=(const OfRequest&) = delete;
  ~OfRequest() {
    rdma_destroy_qp(id);
    rdma_destroy_id(id);
    rdma_destroy_id(listener);
  }
};

std::vector<Row> of_connections() {
  return {
      {"CreateEventChannel", on<OfId>([](OfId&) {
         if (rdma_event_channel* const made = rdma_create_event_channel(); made != nullptr)
           rdma_destroy_event_channel(made);
       })},
      {"CreateId", on<OfId>([](OfId& at) {
         rdma_cm_id* made = nullptr;
         if (rdma_create_id(at.events.channel, &made, nullptr, RDMA_PS_TCP) == 0) rdma_destroy_id(made);
         if (rdma_create_id(nullptr, &made, nullptr, RDMA_PS_TCP) == 0) rdma_destroy_id(made);
       })},
      {"BindAndListen", on<OfId>([](OfId& at) {
         sockaddr_in address = loopback(0);
         rdma_bind_addr(at.id, plain(address));
         rdma_listen(at.id, 4);
       })},
      {"Resolve", on<OfId>([](OfId& at) {
         sockaddr_in address = loopback(1);
         rdma_resolve_addr(at.id, nullptr, plain(address), 1000);
         rdma_resolve_route(at.id, 1000);
       })},
      {"GetEvent", on<OfId>([](OfId& at) {
         sockaddr_in address = loopback(1);
         if (rdma_resolve_addr(at.id, nullptr, plain(address), 1000) != 0) return;
         rdma_cm_event* event = nullptr;
         if (rdma_get_cm_event(at.events.channel, &event) == 0) rdma_ack_cm_event(event);
       })},
      {"Migrate", on<OfId>([](OfId& at) {
         rdma_event_channel* const other = rdma_create_event_channel();
         if (other == nullptr) return;
         rdma_migrate_id(at.id, other);
         rdma_migrate_id(at.id, at.events.channel);
         rdma_destroy_event_channel(other);
       })},
      {"SetOption", on<OfId>([](OfId& at) {
         std::uint8_t octet = 8;
         rdma_set_option(at.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &octet, sizeof octet);
       })},
      {"GetAddrInfo", on<OfId>([](OfId&) {
         rdma_addrinfo* found = nullptr;
         if (rdma_getaddrinfo("127.0.0.1", "1", nullptr, &found) == 0) rdma_freeaddrinfo(found);
       })},
      {"CreateEp", on<OfId>([](OfId&) {
         rdma_addrinfo hints{};
         hints.ai_port_space = RDMA_PS_TCP;
         rdma_addrinfo* found = nullptr;
         if (rdma_getaddrinfo("127.0.0.1", "1", &hints, &found) != 0) return;
         rdma_cm_id* made = nullptr;
         if (rdma_create_ep(&made, found, nullptr, nullptr) == 0) rdma_destroy_ep(made);
         rdma_freeaddrinfo(found);
       })},
      {"GetDevices", on<OfId>([](OfId&) {
         int count = 0;
         if (ibv_context** const list = rdma_get_devices(&count); list != nullptr) rdma_free_devices(list);
       })},
      {"RdmaCreateQp", on<OfResolved>([](OfResolved& at) { at.create_qp(); })},
      {"RdmaConnect", on<OfConnected>([](OfConnected& at) {
         rdma_conn_param parameters{};
         rdma_connect(at.id, &parameters);
       })},
      {"RdmaAccept", on<OfRequest>([](OfRequest& at) { rdma_accept(at.id, nullptr); })},
      {"RdmaReject", on<OfRequest>([](OfRequest& at) { rdma_reject(at.id, "no", 2); })},
      {"RdmaDisconnect", on<OfRequest>([](OfRequest& at) {
         rdma_accept(at.id, nullptr);
         rdma_disconnect(at.id);
       })},
  };
}

// --- rsockets

std::vector<Row> of_rsockets() {
  using S = RsocketPair;
  return {
      {"Rsocket", on<S>([](S&) {
         if (const int made = rsocket(AF_INET, SOCK_STREAM, 0); made >= 0) rclose(made);
       })},
      {"RsocketForDatagrams", on<S>([](S&) {
         if (const int made = rsocket(AF_INET, SOCK_DGRAM, 0); made >= 0) rclose(made);
       })},
      {"RbindAndRlisten", on<S>([](S&) {
         const int made = rsocket(AF_INET, SOCK_STREAM, 0);
         if (made < 0) return;
         sockaddr_in address = loopback(0);
         rbind(made, plain(address), sizeof address);
         rlisten(made, 4);
         raccept_nonblocking(made);
         rclose(made);
       })},
      {"Options", on<S>([](S& at) {
         int one = 1;
         socklen_t length = sizeof one;
         rsetsockopt(at.here, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
         rgetsockopt(at.here, SOL_SOCKET, SO_KEEPALIVE, &one, &length);
       })},
      {"Rsend", on<S>([](S& at) { rsend(at.here, "x", 1, MSG_DONTWAIT); })},
      {"Rrecv", on<S>([](S& at) {
         char octet = 0;
         rrecv(at.here, &octet, 1, MSG_DONTWAIT);
       })},
      {"Rpoll", on<S>([](S& at) {
         pollfd wanted{.fd = at.here, .events = POLLIN, .revents = 0};
         rpoll(&wanted, 1, 0);
       })},
      {"Riomap", on<S>([](S& at) {
         static std::array<char, 64> memory{};
         if (riomap(at.there, memory.data(), memory.size(), PROT_WRITE, 0, 0) == 0)
           riounmap(at.there, memory.data(), memory.size());
       })},
      {"Rshutdown", on<S>([](S& at) { rshutdown(at.here, SHUT_WR); })},
  };
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (auto& some : {of_verbs(), of_connections(), of_rsockets()}) all.insert(all.end(), some.begin(), some.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Calls, FailedCCalls, testing::ValuesIn(all_rows()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace weft::compat::test
