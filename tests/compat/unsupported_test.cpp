// SPDX-License-Identifier: Apache-2.0
// What weft has not fails the way that very call fails. A call that says 0 and did nothing is worse than one that is
// missing: the program goes on with what it did not get.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include <cerrno>

#include "things.hpp"

extern "C" const char* ibv_get_sysfs_path();  // of no public header that C++ takes

namespace {

// The three conventions of these libraries.
template <typename Call>
void answers_null(int expected, Call call) {
  errno = 0;
  EXPECT_EQ(call(), nullptr);
  EXPECT_EQ(errno, expected);
}
template <typename Call>
void answers_minus_one(int expected, Call call) {
  errno = 0;
  EXPECT_EQ(call(), -1);
  EXPECT_EQ(errno, expected);
}

// Streams and datagrams are there (rsocket_test.cpp, rsocket_datagram_test.cpp).
TEST(CompatUnsupported, RsocketsOfOtherKinds) {
  answers_minus_one(ENOTSUP, [] { return rsocket(AF_INET, SOCK_RAW, 0); });
  answers_minus_one(ENOTSUP, [] { return rsocket(AF_UNIX, SOCK_DGRAM, 0); });
  answers_minus_one(EBADF, [] { return rclose(-1); });
}

TEST(CompatUnsupported, ObjectsOfOtherProcessesAndDevices) {
  answers_null(EOPNOTSUPP, [] { return ibv_import_device(0); });
  answers_null(EOPNOTSUPP, [] { return ibv_import_pd(nullptr, 0); });
  answers_null(EOPNOTSUPP, [] { return ibv_import_mr(nullptr, 0); });
  answers_null(EOPNOTSUPP, [] { return ibv_import_dm(nullptr, 0); });
  answers_null(EOPNOTSUPP, [] { return ibv_reg_dmabuf_mr(nullptr, 0, 0, 0, 0, 0); });
}

TEST(CompatUnsupported, OptionsOfVendors) {
  ibv_ece ece{.vendor_id = 1, .options = 2, .comp_mask = 3};
  EXPECT_EQ(ibv_set_ece(nullptr, &ece), EOPNOTSUPP);
  EXPECT_EQ(ibv_query_ece(nullptr, &ece), EOPNOTSUPP);
  answers_minus_one(EOPNOTSUPP, [&] { return rdma_set_local_ece(nullptr, &ece); });
  EXPECT_EQ(rdma_get_remote_ece(nullptr, &ece), 0);
  EXPECT_EQ(ece.vendor_id, 0U);
  EXPECT_EQ(ece.options, 0U);
}

TEST(CompatUnsupported, ProgramsOf2006) {
  void* const verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(verbs, nullptr);
  // Their arguments are not looked at.
  const auto list = reinterpret_cast<void* (*)()>(dlvsym(verbs, "ibv_get_device_list", "IBVERBS_1.0"));
  const auto query = reinterpret_cast<int (*)()>(dlvsym(verbs, "ibv_query_device", "IBVERBS_1.0"));
  ASSERT_NE(list, nullptr);
  ASSERT_NE(query, nullptr);
  answers_null(ENOSYS, [&] { return list(); });
  EXPECT_EQ(query(), ENOSYS);
}

// No adapter for iWARP has them: rdma-core and the kernel's drivers answer the same.
TEST(CompatUnsupported, ExtendedReliableConnections) {
  const weft::compat::test::Things things;
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(things.context, &device), 0);
  EXPECT_EQ(device.device_cap_flags & IBV_DEVICE_XRC, 0U);
  ibv_xrcd_init_attr domain{
      .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
  answers_null(EOPNOTSUPP, [&] { return ibv_open_xrcd(things.context, &domain); });
  ibv_qp_open_attr shared{};
  answers_null(EOPNOTSUPP, [&] { return ibv_open_qp(things.context, &shared); });
  ibv_qp_init_attr_ex extended{};
  extended.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  extended.qp_type = IBV_QPT_XRC_RECV;
  answers_null(EOPNOTSUPP, [&] { return ibv_create_qp_ex(things.context, &extended); });
  for (const ibv_qp_type type : {IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV}) {
    ibv_qp_init_attr plain = weft::compat::test::Things::qp_wishes(things.cq);
    plain.qp_type = type;
    answers_null(EOPNOTSUPP, [&] { return ibv_create_qp(things.pd, &plain); });
  }
  ibv_srq_init_attr_ex queue{};
  queue.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  queue.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  queue.srq_type = IBV_SRQT_XRC;
  queue.pd = things.pd;
  queue.cq = things.cq;
  answers_null(EOPNOTSUPP, [&] { return ibv_create_srq_ex(things.context, &queue); });
}

TEST(CompatUnsupported, SysfsIsTheKernels) { EXPECT_STREQ(ibv_get_sysfs_path(), "/sys"); }

TEST(CompatUnsupported, ForkNeedsNothing) {
  EXPECT_EQ(ibv_fork_init(), 0);
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
}

}  // namespace
