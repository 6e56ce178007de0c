// SPDX-License-Identifier: Apache-2.0
// Identifiers of RDMA_PS_UDP with a queue pair, for tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "ends.hpp"

namespace weft::compat::test {

// An event that is acknowledged with it.
struct Event {
  explicit Event(const Events& events) {
    if (!readable(events.channel->fd)) throw std::runtime_error("no event came");
    must(rdma_get_cm_event(events.channel, &raw), "rdma_get_cm_event");
  }
  ~Event() { rdma_ack_cm_event(raw); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  rdma_cm_event* operator->() const { return raw; }
  [[nodiscard]] std::string words() const {
    return {static_cast<const char*>(raw->param.ud.private_data), raw->param.ud.private_data_len};
  }
  rdma_cm_event* raw = nullptr;
};

// An identifier with a queue pair for datagrams.
struct Side {
  rdma_cm_id* id;
  std::array<char, 256> octets{};
  ibv_cq* queue = must(ibv_create_cq(id->verbs, 16, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_mr* region = must(ibv_reg_mr(id->pd, octets.data(), octets.size(), int{IBV_ACCESS_LOCAL_WRITE}), "ibv_reg_mr");

  explicit Side(rdma_cm_id* of) : id(of) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    wanted.qp_type = IBV_QPT_UD;
    must(rdma_create_qp(id, nullptr, &wanted), "rdma_create_qp");
  }
  ~Side() {
    rdma_destroy_qp(id);
    ibv_dereg_mr(region);
    ibv_destroy_cq(queue);
    rdma_destroy_id(id);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  [[nodiscard]] ibv_wc completion() const {
    ibv_wc wc{};
    wait_until([&] { return ibv_poll_cq(queue, 1, &wc) == 1; }, "a completion");
    return wc;
  }
  [[nodiscard]] rdma_conn_param says(const char* words) const {
    rdma_conn_param wanted{};
    wanted.private_data = words;
    wanted.private_data_len = static_cast<std::uint8_t>(std::strlen(words));
    wanted.qp_num = id->qp->qp_num;
    return wanted;
  }
};

// What the engine has to say about it is nothing for the program.
inline void must_hear_nothing(const Events& events) {
  must(::fcntl(events.channel->fd, F_SETFL, O_NONBLOCK), "fcntl");
  rdma_cm_event* event = nullptr;
  EXPECT_EQ(rdma_get_cm_event(events.channel, &event), -1);
  EXPECT_EQ(errno, EAGAIN);
}

}  // namespace weft::compat::test
