// SPDX-License-Identifier: Apache-2.0
// What weft has not fails the way that very call fails. A call that says 0 and did nothing is worse than one that is
// missing: the program goes on with what it did not get.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include <cerrno>

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

// Streams are there (rsocket_test.cpp); rdma-core's datagram rsockets are unreliable datagrams.
TEST(CompatUnsupported, DatagramRsockets) {
  answers_minus_one(ENOTSUP, [] { return rsocket(AF_INET, SOCK_DGRAM, 0); });
  answers_minus_one(ENOTSUP, [] { return rsocket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP); });
  answers_minus_one(EBADF, [] { return rclose(-1); });
  const int stream = rsocket(AF_INET, SOCK_STREAM, 0);
  EXPECT_GE(stream, 0);
  EXPECT_EQ(rclose(stream), 0);
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

TEST(CompatUnsupported, SysfsIsTheKernels) { EXPECT_STREQ(ibv_get_sysfs_path(), "/sys"); }

TEST(CompatUnsupported, ForkNeedsNothing) {
  EXPECT_EQ(ibv_fork_init(), 0);
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
}

}  // namespace
