// SPDX-License-Identifier: Apache-2.0
// Set-up of connections that a program makes by ibv_modify_qp, beside TCP: COUNT of each in turns, both ends in this
// process, over the loopback device. Prints the median times of a turn, and their ratio.
//
// A turn of weft begins with queue pairs in INIT and ends when an RDMA Write of no octets has completed at the end that
// connects: then every connection is established. A turn of TCP is connect() and accept(), one after the other. Closing
// is not measured.
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tools/bench/statistics.hpp"

namespace {

using weft::tools::bench::median;
using Clock = std::chrono::steady_clock;

template <typename T>
T must(T answer, const char* call) {
  if (answer) return answer;
  std::perror(call);
  std::exit(1);
}
void must_be_zero(int answer, const char* call) { must(answer == 0, call); }

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// --- weft

struct Verbs {
  ibv_context* context = open();
  ibv_pd* pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
  ibv_gid gid{};

  Verbs() { must_be_zero(ibv_query_gid(context, 1, 0, &gid), "ibv_query_gid"); }
  static ibv_context* open() {
    int count = 0;
    ibv_device** const list = must(ibv_get_device_list(&count), "ibv_get_device_list");
    ibv_device* found = nullptr;
    for (int i = 0; i < count; ++i) {
      if (std::strcmp(list[i]->name, "weft_lo") == 0) found = list[i];
    }
    ibv_context* const opened = must(ibv_open_device(must(found, "weft_lo")), "ibv_open_device");
    ibv_free_device_list(list);
    return opened;
  }
  ibv_qp* make(ibv_cq* queue) const {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    wanted.qp_type = IBV_QPT_RC;
    wanted.sq_sig_all = 1;
    ibv_qp* const made = must(ibv_create_qp(pd, &wanted), "ibv_create_qp");
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_INIT;
    to.port_num = 1;
    must_be_zero(ibv_modify_qp(made, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
                 "INIT");
    return made;
  }
  void connect(ibv_qp* qp, std::uint32_t peer) const {
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_RTR;
    to.path_mtu = IBV_MTU_1024;
    to.dest_qp_num = peer;
    to.max_dest_rd_atomic = 1;
    to.ah_attr.is_global = 1;
    to.ah_attr.port_num = 1;
    to.ah_attr.grh.dgid = gid;
    must_be_zero(ibv_modify_qp(qp, &to,
                               IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
                 "RTR");
    to = {};
    to.qp_state = IBV_QPS_RTS;
    to.timeout = 20;
    to.retry_cnt = to.rnr_retry = 7;
    to.max_rd_atomic = 1;
    must_be_zero(ibv_modify_qp(qp, &to,
                               IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                   IBV_QP_MAX_QP_RD_ATOMIC),
                 "RTS");
  }
};

double turn_of_weft(const Verbs& verbs, int count) {
  ibv_cq* const queue = must(ibv_create_cq(verbs.context, count + 1, nullptr, nullptr, 0), "ibv_create_cq");
  std::vector<ibv_qp*> ends;
  for (int i = 0; i < 2 * count; ++i) ends.push_back(verbs.make(queue));
  const Clock::time_point begin = Clock::now();
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    verbs.connect(ends[i], ends[i + 1]->qp_num);
    verbs.connect(ends[i + 1], ends[i]->qp_num);
    ibv_send_wr wr{}, *bad = nullptr;
    wr.opcode = IBV_WR_RDMA_WRITE;
    must_be_zero(ibv_post_send(ends[i], &wr, &bad), "ibv_post_send");
  }
  for (int done = 0; done < count;) {
    ibv_wc wc{};
    const int taken = ibv_poll_cq(queue, 1, &wc);
    must(taken >= 0 && (taken == 0 || wc.status == IBV_WC_SUCCESS), "ibv_poll_cq");
    done += taken;
  }
  const double seconds = seconds_since(begin);
  for (ibv_qp* end : ends) ibv_destroy_qp(end);
  ibv_destroy_cq(queue);
  return seconds;
}

// --- TCP

double turn_of_tcp(int count) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  auto* const plain = reinterpret_cast<sockaddr*>(&at);
  must_be_zero(::bind(listener, plain, length), "bind");
  must_be_zero(::listen(listener, 1024), "listen");
  must_be_zero(::getsockname(listener, plain, &length), "getsockname");
  std::vector<int> sockets;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < count; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM, 0));
    must_be_zero(::connect(sockets.back(), plain, length), "connect");
    sockets.push_back(::accept(listener, nullptr, nullptr));
    must(sockets.back() >= 0, "accept");
  }
  const double seconds = seconds_since(begin);
  for (const int one : sockets) ::close(one);
  ::close(listener);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int turns = argc > 2 ? std::atoi(argv[2]) : 7;
  rlimit descriptors{};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &descriptors);
  const Verbs verbs;
  std::vector<double> weft, tcp;
  turn_of_weft(verbs, 16);
  for (int i = 0; i < turns; ++i) {
    weft.push_back(turn_of_weft(verbs, count));
    tcp.push_back(turn_of_tcp(count));
  }
  std::printf(
      "%d connections, medians of %d turns: weft %.1f ms (%.0f/s), TCP %.1f ms (%.0f/s); weft makes %.2f of TCP's\n",
      count, turns, median(weft) * 1e3, count / median(weft), median(tcp) * 1e3, count / median(tcp),
      median(tcp) / median(weft));
}
