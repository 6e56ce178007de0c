// SPDX-License-Identifier: Apache-2.0
// ibv_rereg_mr: what a region becomes, what its peer may do with it then, and that a failure leaves it as it was.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "compat/objects/memory.hpp"
#include "tests/verbs/loopback.hpp"

namespace weft::compat {
namespace {

using verbs::test::must;
using verbs::test::octets;

constexpr std::size_t kSize = 4096;
constexpr int kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND;

struct Page {
  Page() : at(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Page() { munmap(at, kSize); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  [[nodiscard]] std::uint64_t offset() const { return reinterpret_cast<std::uintptr_t>(at); }
  void* at;
};

// The server's region, and a client that reads and writes there.
struct Reregistration : testing::Test {
  ~Reregistration() override {
    if (mr != nullptr) {
      EXPECT_EQ(dereg_mr(mr), 0);
    }
  }
  verbs::SendRequest request(verbs::SendOpcode opcode, const verbs::Sge& sge, const Page& page) const {
    return {.opcode = opcode,
            .flags = verbs::SendFlags::kSignaled,
            .segments = {&sge, 1},
            .remote_address = page.offset(),
            .rkey = mr->rkey};
  }
  verbs::WcStatus read(const Page& page) {
    const auto sge = local.sge();
    must(pair.client.qp->post_send(request(verbs::SendOpcode::kRdmaRead, sge, page)), "post_send");
    return pair.client.next().status;
  }
  int rereg(int flags, ibv_pd* domain, void* address, std::size_t length, int access) const {
    errno = 0;
    return rereg_mr(mr, flags, domain, address, length, access);
  }

  verbs_context opened{};
  verbs::test::Pair pair;
  verbs::test::Buffer local{pair.client, 64};
  Page first, second;
  Pd pd{&opened.context, pair.server.domain};
  Pd other_pd{&opened.context, must(pair.server.device.allocate_protection_domain(), "domain")};
  ibv_mr* mr = reg_mr(&pd, first.at, kSize, first.offset(), kRights);
};

TEST_F(Reregistration, ChangesTheMemory) {
  const std::uint32_t old = mr->rkey;
  std::memcpy(second.at, octets(64, 7).data(), 64);
  ASSERT_EQ(rereg(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, second.at, 64, 0), 0);
  EXPECT_EQ(mr->addr, second.at);
  EXPECT_EQ(mr->length, 64U);
  EXPECT_EQ(mr->pd, &pd);
  EXPECT_EQ(mr->lkey, of(mr).engine.lkey());
  EXPECT_NE(mr->rkey, old);
  EXPECT_EQ(read(second), verbs::WcStatus::kSuccess);
  EXPECT_EQ(local.octets, octets(64, 7));
  mr->rkey = old;  // as a peer that did not hear of it
  EXPECT_EQ(read(second), verbs::WcStatus::kRemoteAccessError);
}

TEST_F(Reregistration, ChangesTheRights) {
  EXPECT_EQ(read(first), verbs::WcStatus::kSuccess);
  ASSERT_EQ(rereg(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
            0);
  EXPECT_EQ(mr->addr, first.at);
  EXPECT_EQ(mr->length, kSize);
  EXPECT_EQ(read(first), verbs::WcStatus::kRemoteAccessError);
}

TEST_F(Reregistration, ChangesTheDomain) {
  ASSERT_EQ(rereg(IBV_REREG_MR_CHANGE_PD, &other_pd, nullptr, 0, 0), 0);
  EXPECT_EQ(mr->pd, &other_pd);
  EXPECT_FALSE(pd.users.any());
  EXPECT_TRUE(other_pd.users.any());
  EXPECT_EQ(read(first), verbs::WcStatus::kRemoteAccessError);
}

TEST_F(Reregistration, ThatFailsLeavesTheOldOneValid) {
  verbs_context stranger{};
  Pd strange_pd{&stranger.context, pair.client.domain};
  const auto refused = [&](int error, int flags, ibv_pd* domain, void* address, std::size_t length, int access) {
    EXPECT_EQ(rereg(flags, domain, address, length, access), IBV_REREG_MR_ERR_INPUT);
    EXPECT_EQ(errno, error);
  };
  refused(EINVAL, 0, nullptr, nullptr, 0, 0);
  refused(EINVAL, IBV_REREG_MR_FLAGS_SUPPORTED + 1, nullptr, nullptr, 0, 0);
  refused(EINVAL, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, nullptr, 64, 0);
  refused(EINVAL, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, second.at, 0, 0);
  refused(EINVAL, IBV_REREG_MR_CHANGE_PD, nullptr, nullptr, 0, 0);
  refused(EINVAL, IBV_REREG_MR_CHANGE_PD, &strange_pd, nullptr, 0, 0);
  refused(EINVAL, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE);  // not LOCAL_WRITE
  ASSERT_EQ(mprotect(second.at, kSize, PROT_NONE), 0);
  refused(EFAULT, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, second.at, 64, 0);
  EXPECT_EQ(read(first), verbs::WcStatus::kSuccess);
}

TEST_F(Reregistration, IsRefusedWhileWindowsAreBound) {
  const auto window = must(pair.client.domain.allocate_window(), "window");
  Pd client_pd{&opened.context, pair.client.domain};
  ibv_mr* const base = reg_mr(&client_pd, second.at, kSize, second.offset(), kRights);
  must(pair.client.qp->post_send({.opcode = verbs::SendOpcode::kBindWindow,
                                  .flags = verbs::SendFlags::kSignaled,
                                  .bind = {.window = &window,
                                           .region = &of(base).engine,
                                           .rkey = window.next_rkey(),
                                           .address = second.offset(),
                                           .length = 8,
                                           .access = verbs::Access::kRemoteRead}}),
       "bind");
  ASSERT_EQ(pair.client.next().status, verbs::WcStatus::kSuccess);
  const std::uint32_t key = base->rkey;
  errno = 0;
  EXPECT_EQ(rereg_mr(base, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, first.at, 64, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(base->addr, second.at);
  EXPECT_EQ(base->rkey, key);
  must(pair.client.qp->post_send({.opcode = verbs::SendOpcode::kLocalInvalidate,
                                  .flags = verbs::SendFlags::kSignaled,
                                  .invalidate_rkey = window.rkey()}),
       "invalidate");
  ASSERT_EQ(pair.client.next().status, verbs::WcStatus::kSuccess);
  EXPECT_EQ(rereg_mr(base, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, first.at, 64, 0), 0);
  EXPECT_EQ(dereg_mr(base), 0);
}

// SEC-6.2.2-02, RDMAP-8.1.1-06: a peer that is writing finds no way to the old memory any more, which may go at once.
TEST_F(Reregistration, LeavesTheOldMemoryAlone) {
  const auto sge = local.sge();
  local.fill(3);
  for (int i = 0; i < 100; ++i) {
    must(pair.client.qp->post_send(request(verbs::SendOpcode::kRdmaWrite, sge, first)), "post_send");
  }
  verbs::test::wait_until([&] { return static_cast<volatile std::byte*>(first.at)[63] == local.octets[63]; },
                          "a Write");
  ASSERT_EQ(rereg(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, second.at, kSize, 0), 0);
  ASSERT_EQ(mprotect(first.at, kSize, PROT_NONE), 0);  // an access there now ends the test
  verbs::test::wait_until(
      [&] { return pair.client.next_within(pair.client.cq, std::chrono::milliseconds(1)).has_value(); }, "completions");
  EXPECT_EQ(*static_cast<std::byte*>(second.at), std::byte{0});
}

}  // namespace
}  // namespace weft::compat
