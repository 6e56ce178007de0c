// SPDX-License-Identifier: Apache-2.0
// The stock rping on the drop-in libraries (`weft run`) against the same stock rping on the kernel's siw: two copies of
// one program, and nothing between them in common but the wire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/interop/program.hpp"
#include "tests/interop/vm.hpp"

namespace weft::interop {
namespace {

using testing::HasSubstr;

constexpr const char* kLastLine = "ping data: rdma-ping-4: EFGHIJKLMNOPQRSTUVWXYZ";

class DropIn : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v rping >/dev/null") != 0) {
      GTEST_SKIP()
          << "rping is not installed here (Debian package rdmacm-utils): the drop-in libraries do not meet siw";
    }
  }

  // `options` are those of `weft run`.
  static void ping_host(const std::string& options = "") {
    const std::string port = std::to_string(free_tcp_port());
    Program server("run " + options + " -- rping -s -a 127.0.0.1 -p " + port + " -C 5 -S 1000 -v -V");
    server.wait_listen(port);
    Session client = Vm::instance().start("limit 30 rping -c -a 10.0.2.2 -p " + port + " -C 5 -S 1000 -v -V");
    EXPECT_EQ(client.finish(), 0) << client.transcript() << server.output();
    EXPECT_THAT(client.transcript(), HasSubstr(kLastLine));
    EXPECT_EQ(server.finish(), 0) << server.output();
    EXPECT_THAT(server.output(), HasSubstr("server ping data: rdma-ping-0: ABCDEFG"));  // the rest mixes with stderr
  }
};

// Not the other way round: the stock client does not wait after the Reply, as siw needs it (README.md).
TEST_F(DropIn, RpingIsServer) { ping_host(); }
TEST_F(DropIn, RpingIsServerWithoutCrc) { ping_host("--policy crc=off"); }

}  // namespace
}  // namespace weft::interop
