// SPDX-License-Identifier: Apache-2.0
// Misuse of the connection manager, and of a connected queue pair.
#include <gtest/gtest.h>
#include <rdma/rdma_verbs.h>

#include <array>
#include <cerrno>
#include <vector>

#include "misuse.hpp"

namespace weft::compat::test::cm_misuse {
namespace {

using Octets = std::array<char, 64>;

rdma_cm_id* take(rdma_event_channel* channel, rdma_cm_event_type expected) {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel, &event) != 0) return nullptr;
  EXPECT_EQ(event->event, expected) << rdma_event_str(event->event);
  rdma_cm_id* const id = event->id;
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  return id;
}

// An identifier that has only been made, a listener, and the two ends of a connection.
struct Ends {
  rdma_event_channel* channel = have(rdma_create_event_channel(), "rdma_create_event_channel");
  rdma_cm_id* fresh = make_id();
  rdma_cm_id* listener = make_id();
  rdma_cm_id* client = make_id();
  rdma_cm_id* server = nullptr;
  Octets octets{};
  ibv_mr* region = nullptr;

  Ends() {
    sockaddr_in at = loopback(0);
    EXPECT_EQ(rdma_bind_addr(listener, plain(at)), 0);
    EXPECT_EQ(rdma_listen(listener, 1), 0);
    resolve(client, ntohs(rdma_get_src_port(listener)));
    make_pair(client);
    rdma_conn_param wanted{};
    wanted.responder_resources = wanted.initiator_depth = 4;
    EXPECT_EQ(rdma_connect(client, &wanted), 0);
    server = have(take(channel, RDMA_CM_EVENT_CONNECT_REQUEST), "the request");
    make_pair(server);
    EXPECT_EQ(rdma_accept(server, &wanted), 0);
    take(channel, RDMA_CM_EVENT_ESTABLISHED);
    take(channel, RDMA_CM_EVENT_ESTABLISHED);
    region = have(ibv_reg_mr(client->pd, octets.data(), octets.size(), 0), "ibv_reg_mr");
  }
  ~Ends() {
    ibv_dereg_mr(region);
    for (rdma_cm_id* const id : {client, server, listener, fresh}) rdma_destroy_ep(id);
    rdma_destroy_event_channel(channel);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;

  rdma_cm_id* make_id() const {
    rdma_cm_id* id = nullptr;
    EXPECT_EQ(rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP), 0);
    return have(id, "rdma_create_id");
  }
  void resolve(rdma_cm_id* id, unsigned port) const {
    sockaddr_in to = loopback(port);
    EXPECT_EQ(rdma_resolve_addr(id, nullptr, plain(to), 2000), 0);
    take(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_EQ(rdma_resolve_route(id, 2000), 0);
    take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
  }
  static void make_pair(rdma_cm_id* id) {
    ibv_qp_init_attr wanted = Things::qp_wishes(nullptr);
    ASSERT_EQ(rdma_create_qp(id, nullptr, &wanted), 0);
  }
};
using Misuse = test::Misuse<Ends>;

void expect_all_refused(const std::vector<Misuse>& all) {
  Ends ends;
  for (const Misuse& misuse : all) expect_refused(misuse, ends);
}

TEST(CmMisuse, Identifiers) {
  expect_all_refused({
      {"rdma_create_id", EINVAL, "port space",
       [](Ends& e) {
         rdma_cm_id* id = nullptr;
         return minus_one(rdma_create_id(e.channel, &id, nullptr, static_cast<rdma_port_space>(0x100)));
       }},
      {"rdma_create_id", EINVAL, "null",
       [](Ends& e) { return minus_one(rdma_create_id(e.channel, nullptr, nullptr, RDMA_PS_TCP)); }},
      {"rdma_destroy_id", EINVAL, "null", [](Ends&) { return minus_one(rdma_destroy_id(nullptr)); }},
      {"rdma_get_cm_event", EINVAL, "null", [](Ends& e) { return minus_one(rdma_get_cm_event(e.channel, nullptr)); }},
      {"rdma_ack_cm_event", EINVAL, "null", [](Ends&) { return minus_one(rdma_ack_cm_event(nullptr)); }},
      {"rdma_get_request", EINVAL, "event channel",
       [](Ends& e) {
         rdma_cm_id* id = nullptr;
         return minus_one(rdma_get_request(e.listener, &id));
       }},
  });
}

int set_option(Ends& ends, int level, int name, std::size_t length) {
  std::array<int, 2> value{};
  return minus_one(rdma_set_option(ends.fresh, level, name, value.data(), length));
}

TEST(CmMisuse, Options) {
  expect_all_refused({
      {"rdma_set_option", ENOSYS, "no such option", [](Ends& e) { return set_option(e, 77, RDMA_OPTION_ID_TOS, 1); }},
      {"rdma_set_option", ENOSYS, "no such option", [](Ends& e) { return set_option(e, RDMA_OPTION_ID, 77, 1); }},
      {"rdma_set_option", ENOSYS, "no such option",
       [](Ends& e) { return set_option(e, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 8); }},
      {"rdma_set_option", EINVAL, "length",
       [](Ends& e) { return set_option(e, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1); }},
      {"rdma_set_option", EINVAL, "length",
       [](Ends& e) { return set_option(e, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4); }},
  });
}

TEST(CmMisuse, Addresses) {
  expect_all_refused({
      {"rdma_bind_addr", EINVAL, "null", [](Ends& e) { return minus_one(rdma_bind_addr(e.fresh, nullptr)); }},
      {"rdma_bind_addr", EAFNOSUPPORT, "neither IPv4 nor IPv6",
       [](Ends& e) {
         sockaddr at{};
         at.sa_family = AF_UNIX;
         return minus_one(rdma_bind_addr(e.fresh, &at));
       }},
      {"rdma_bind_addr", EADDRNOTAVAIL, "bind",
       [](Ends& e) {
         sockaddr_in at = loopback(0);
         at.sin_addr.s_addr = htonl(0xC0000209);  // 192.0.2.9: for documentation, on no interface
         return minus_one(rdma_bind_addr(e.fresh, plain(at)));
       }},
      {"rdma_bind_addr", EINVAL, "already bound",
       [](Ends& e) {
         sockaddr_in at = loopback(0);
         return minus_one(rdma_bind_addr(e.listener, plain(at)));
       }},
      {"rdma_resolve_addr", EINVAL, "null",
       [](Ends& e) { return minus_one(rdma_resolve_addr(e.fresh, nullptr, nullptr, 1)); }},
      {"rdma_resolve_addr", EINVAL, "already resolved",
       [](Ends& e) {
         sockaddr_in to = loopback(9);
         return minus_one(rdma_resolve_addr(e.client, nullptr, plain(to), 1));
       }},
      {"rdma_resolve_route", EINVAL, "address", [](Ends& e) { return minus_one(rdma_resolve_route(e.fresh, 1)); }},
  });
}

TEST(CmMisuse, Connections) {
  expect_all_refused({
      {"rdma_listen", EINVAL, "connection", [](Ends& e) { return minus_one(rdma_listen(e.listener, 1)); }},
      {"rdma_listen", EINVAL, "connection", [](Ends& e) { return minus_one(rdma_listen(e.client, 1)); }},
      {"rdma_connect", EINVAL, "no port", [](Ends& e) { return minus_one(rdma_connect(e.fresh, nullptr)); }},
      {"rdma_connect", EINVAL, "connection", [](Ends& e) { return minus_one(rdma_connect(e.client, nullptr)); }},
      {"rdma_connect", EINVAL, "no queue pair",
       [](Ends& e) {
         rdma_cm_id* const id = e.make_id();
         e.resolve(id, 9);
         const int answered = minus_one(rdma_connect(id, nullptr));
         EXPECT_EQ(rdma_destroy_id(id), 0);
         return answered;
       }},
      {"rdma_accept", EINVAL, "no queue pair", [](Ends& e) { return minus_one(rdma_accept(e.fresh, nullptr)); }},
      {"rdma_accept", EINVAL, "already used", [](Ends& e) { return minus_one(rdma_accept(e.server, nullptr)); }},
      {"rdma_accept", EINVAL, "already used", [](Ends& e) { return minus_one(rdma_accept(e.client, nullptr)); }},
      {"rdma_reject", EINVAL, "connection", [](Ends& e) { return minus_one(rdma_reject(e.server, nullptr, 0)); }},
      {"rdma_disconnect", EINVAL, "not connected", [](Ends& e) { return minus_one(rdma_disconnect(e.fresh)); }},
  });
}

int create_pair(rdma_cm_id* id, std::uint32_t max_send_wr = 1) {
  ibv_qp_init_attr wanted = Things::qp_wishes(nullptr);
  wanted.cap.max_send_wr = max_send_wr;
  return minus_one(rdma_create_qp(id, nullptr, &wanted));
}

TEST(CmMisuse, QueuePairs) {
  expect_all_refused({
      {"rdma_create_qp", EINVAL, "no device", [](Ends& e) { return create_pair(e.fresh); }},
      {"rdma_create_qp", EINVAL, "has a queue pair", [](Ends& e) { return create_pair(e.client); }},
      {"rdma_create_srq", EINVAL, "no device",
       [](Ends& e) {
         ibv_srq_init_attr wanted{};
         return minus_one(rdma_create_srq(e.fresh, nullptr, &wanted));
       }},
  });
}

// --- What only a connected queue pair refuses

template <typename Change>
int send(Ends& ends, Change change) {
  std::array<ibv_sge, 4> segments{};
  for (ibv_sge& one : segments) {
    one = {reinterpret_cast<std::uintptr_t>(ends.octets.data()), 64, ends.region->lkey};
  }
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_SEND;
  wr.sg_list = segments.data();
  wr.num_sge = 1;
  wr.send_flags = IBV_SEND_SIGNALED;
  change(wr);
  ibv_send_wr* bad = nullptr;
  const int answered = ibv_post_send(ends.client->qp, &wr, &bad);
  EXPECT_EQ(bad, answered != 0 ? &wr : nullptr);
  return answered;
}

TEST(CmMisuse, Sending) {
  expect_all_refused({
      {"ibv_post_send", EINVAL, "flag", [](Ends& e) { return send(e, [](auto& wr) { wr.send_flags = 1U << 20; }); }},
      {"ibv_post_send", EINVAL, "segments", [](Ends& e) { return send(e, [](auto& wr) { wr.num_sge = 3; }); }},
      {"ibv_post_send", EINVAL, "max_inline",
       [](Ends& e) {
         return send(e, [](auto& wr) {
           wr.sg_list->length = 257;  // ibv_create_qp grants 256, whatever it is asked for
           wr.send_flags = IBV_SEND_INLINE;
         });
       }},
      {"ibv_post_send", EINVAL, "sink",
       [](Ends& e) {
         return send(e, [](auto& wr) {
           wr.opcode = IBV_WR_RDMA_READ;
           wr.num_sge = 2;
         });
       }},
      {"ibv_post_send", EINVAL, "inline",
       [](Ends& e) {
         return send(e, [](auto& wr) {
           wr.opcode = IBV_WR_RDMA_READ;
           wr.send_flags = IBV_SEND_INLINE;
         });
       }},
      {"ibv_post_send", EINVAL, "do not fit",
       [](Ends& e) { return send(e, [](auto& wr) { wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD; }); }},
      {"ibv_post_send", EINVAL, "window",
       [](Ends& e) { return send(e, [](auto& wr) { wr.opcode = IBV_WR_BIND_MW; }); }},
  });
}

// The key is looked at when the request is executed: that is a completion's status, as with any adapter.
TEST(CmMisuse, AKeyOfNobody) {
  Ends ends;
  EXPECT_EQ(send(ends, [](auto& wr) { wr.sg_list[0].lkey ^= 0x5500; }), 0);
  ibv_wc done{};
  int count = 0;
  while ((count = ibv_poll_cq(ends.client->send_cq, 1, &done)) == 0) {
  }
  EXPECT_EQ(count, 1);
  EXPECT_EQ(done.status, IBV_WC_LOC_PROT_ERR);
}

}  // namespace
}  // namespace weft::compat::test::cm_misuse
