// SPDX-License-Identifier: Apache-2.0
// weft's own rping keeps what `weft probe` asks for, as server and as client.
#include "probe_run.hpp"

namespace weft::test {
namespace {

TEST(RpingServer, FailsNoCase) {
  const std::uint16_t port = free_port();
  Command server({"rping", "-s", "-P", "-a", "127.0.0.1", "-p", std::to_string(port)});
  ASSERT_TRUE(server.wait_for_error("listening on ")) << server.err();
  expect_clean(probed(joined({"--profile", "rping", "127.0.0.1:" + std::to_string(port)}, quick())), 60);
}

// Each of its connections is a process, which lives for 0.2 s: cases of very many connections are left out.
TEST(RpingClient, FailsNoCase) {
  Arguments skipped = quick();
  skipped.back() += ",crc-each-octet,terminate-each-error,rdmap-version,rdmap-unassigned-opcode";
  const Arguments listen{"--profile", "rping", "--listen",
                         "0",         "--run", std::string(WEFT_COMMAND) + " rping -c -a {host} -p {port} -C 1"};
  expect_clean(probed(joined(listen, skipped)), 40);
}

}  // namespace
}  // namespace weft::test
