// SPDX-License-Identifier: Apache-2.0
// What depends on the process's settings and on its interface: one TCP port for all queue pairs, and an address that goes.
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "direct_sides.hpp"
#include "misuse.hpp"

extern "C" const char* ibv_get_sysfs_path();  // of no public header that C++ takes

namespace weft::compat::test {
namespace {

void ask_about_loopback(unsigned long what, ifreq& request) {
  const int query = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  std::strcpy(request.ifr_name, "lo");
  if (::ioctl(query, what, &request) != 0) throw std::runtime_error("ioctl");
  ::close(query);
}

void set_loopback_address(std::uint32_t address) {
  ifreq request{};
  request.ifr_addr.sa_family = AF_INET;
  const in_addr value{.s_addr = htonl(address)};
  std::memcpy(request.ifr_addr.sa_data + 2, &value, sizeof value);
  ask_about_loopback(SIOCSIFADDR, request);
}

// Before the libraries read them, and before there is another thread: all of them are in the namespace then.
struct Process {
  bool own_network = ::unshare(CLONE_NEWNET) == 0;
  Process() {
    if (own_network) {
      ifreq request{};
      request.ifr_flags = IFF_UP;
      ask_about_loopback(SIOCSIFFLAGS, request);
    }
    const std::string port = std::to_string(weft::test::free_port());
    ::setenv("WEFT_PORTS", (port + "-" + port).c_str(), 1);
    ::setenv("WEFT_LOG", "info", 1);
    ::setenv("WEFT_POLICY", "no-receive-timeout=200ms", 1);
    ::setenv("SYSFS_PATH", "/srv/sysfs//", 1);
  }
};
const Process process;

TEST(CompatDirectProcess, SysfsIsWhereTheVariableSays) { EXPECT_STREQ(ibv_get_sysfs_path(), "/srv/sysfs"); }

// A port has 255 numbers; the 256th is that of a queue pair for datagrams at the same port.
TEST(CompatDirectProcess, PortsThatAreUsedUpRefuseAQueuePair) {
  Things things;
  std::vector<ibv_qp*> all{things.qp};
  ibv_qp_init_attr wanted = Things::qp_wishes(things.cq);
  while (all.size() < 255) all.push_back(things.make_qp(things.cq));
  const Misuse<Things> once_more{"ibv_create_qp", EADDRINUSE, "all TCP ports of WEFT_PORTS are in use", [](Things& t) {
                                   ibv_qp_init_attr more = Things::qp_wishes(t.cq);
                                   return answer(ibv_create_qp(t.pd, &more));
                                 }};
  expect_refused(once_more, things);
  EXPECT_EQ(ibv_destroy_qp(all.back()), 0);
  all.back() = ibv_create_qp(things.pd, &wanted);
  ASSERT_NE(all.back(), nullptr) << "its number was given back";
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(ibv_destroy_qp(all[i]), 0);
}

// Its send fails as one to a peer that has gone; with the address, the queue pair can connect again.
TEST(CompatDirectProcess, AnAddressThatGoesEndsTheWaitForAPeer) {
  if (!process.own_network) GTEST_SKIP() << "SKIPPED: needs the right to make a network namespace (root)";
  constexpr std::uint32_t kLesser = 0x040001;  // at port 1024
  for (const std::uint32_t peer : {kNobody, kLesser}) {
    Side one;
    testing::internal::CaptureStderr();
    go(one, peer);
    set_loopback_address(INADDR_ANY);
    ASSERT_EQ(one.post(1), 0);
    const ibv_wc wc = one.next();
    set_loopback_address(INADDR_LOOPBACK);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(wc.status, IBV_WC_RETRY_EXC_ERR) << ibv_wc_status_str(wc.status);
    EXPECT_EQ(one.query().qp_state, IBV_QPS_ERR);
    const auto line = said.find("ibv_modify_qp: connection: TCP connect failed");
    const bool told = line != std::string::npos && said.find("[EADDRNOTAVAIL]", line) != std::string::npos;
    EXPECT_EQ(told, peer == kNobody) << "the end that connects, and no other:\n" << said;
    ASSERT_EQ(modify(one.qp, IBV_QPS_RESET), 0);
    Side other;
    go(one, other.qp->qp_num);
    go(other, one.qp->qp_num);
    exchange(one, other);
  }
}

// The Send itself has completed: TCP took it. What the program learns afterwards has the status of an adapter.
TEST(CompatDirectProcess, APeerWithoutAReceiveEndsTheNextRequest) {
  for (const bool posted_before : {true, false}) {
    Side a, b;
    go(a, b.qp->qp_num);
    go(b, a.qp->qp_num);
    ASSERT_EQ(a.post(1), 0);
    expect_done(a.next(), 1);
    if (!posted_before) wait_until([&] { return a.query().qp_state == IBV_QPS_ERR; }, "the peer's Terminate");
    ASSERT_EQ(a.post(2, IBV_WR_RDMA_READ, &b), 0);
    ASSERT_EQ(a.post(3, IBV_WR_RDMA_READ, &b), 0);
    const ibv_wc wc = a.next();
    EXPECT_EQ(wc.status, IBV_WC_RNR_RETRY_EXC_ERR) << ibv_wc_status_str(wc.status);
    EXPECT_EQ(wc.wr_id, 2U);
    EXPECT_EQ(a.next().status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(a.query().qp_state, IBV_QPS_ERR);
    EXPECT_EQ(b.query().qp_state, IBV_QPS_ERR);
  }
}

TEST(CompatDirectProcess, APeerWithoutAReceiveEndsASendThatTcpHasNotTaken) {
  std::vector<char> octets(64U << 20U);
  Side a, b;
  ibv_mr* const mr = have(ibv_reg_mr(a.pd, octets.data(), octets.size(), 0), "ibv_reg_mr");
  go(a, b.qp->qp_num);
  go(b, a.qp->qp_num);
  ibv_sge all{.addr = reinterpret_cast<std::uintptr_t>(octets.data()),
              .length = static_cast<std::uint32_t>(octets.size()),
              .lkey = mr->lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.wr_id = 1;
  wr.sg_list = &all;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED;
  ASSERT_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
  ASSERT_EQ(a.post(2), 0);
  const ibv_wc wc = a.next();
  EXPECT_EQ(wc.status, IBV_WC_RNR_RETRY_EXC_ERR) << ibv_wc_status_str(wc.status);
  EXPECT_EQ(wc.wr_id, 1U);
  EXPECT_EQ(a.next().status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

}  // namespace
}  // namespace weft::compat::test
