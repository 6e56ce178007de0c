// SPDX-License-Identifier: Apache-2.0
// weft's own rping keeps what `weft probe` asks for, as server and as client.
#include <gmock/gmock.h>

#include <csignal>

#include "probe_run.hpp"

namespace weft::test {
namespace {

using testing::HasSubstr;

TEST(RpingServer, FailsNoCase) {
  const std::uint16_t port = free_port();
  Command server({"rping", "-s", "-P", "-a", "127.0.0.1", "-p", std::to_string(port)});
  ASSERT_TRUE(server.wait_for_error("listening on ")) << server.err();
  expect_clean(probed(joined({"--profile", "rping", "127.0.0.1:" + std::to_string(port)}, quick())), 60);
}

// It rejects a connection that comes while another one is open.
TEST(PeerOfOneConnection, FailsNoCase) {
  const std::uint16_t port = free_port();
  Command server({"rping", "-s", "-P", "--max-clients", "1", "-a", "127.0.0.1", "-p", std::to_string(port)});
  ASSERT_TRUE(server.wait_for_error("listening on ")) << server.err();
  const auto run =
      probed(joined({"--profile", "rping", "127.0.0.1:" + std::to_string(port)},
                    {"--only", "request-key,request-flags,crc-wrongly-computed,limit-silent-connections"}));
  expect_clean(run, 3);
  EXPECT_EQ(run.verdicts.at("request-key"), "pass") << "one connection after the other";
  EXPECT_EQ(run.verdicts.at("limit-silent-connections"), "not_applicable") << "many at a time";
  EXPECT_THAT(run.ended.out, HasSubstr("it serves one connection at a time"));
  const TemporaryDirectory folder;
  std::ofstream(folder.file("own.profile")) << "weft probe profile 1\nempty-write yes\n";
  const auto own = probed({"--profile", folder.file("own.profile"), "127.0.0.1:" + std::to_string(port), "--only",
                           "request-key,request-flags,crc-wrongly-computed"});
  expect_clean(own, 3);
}

// Each of its connections is a process, which lives for 0.2 s: cases of very many connections are left out.
TEST(RpingClient, FailsNoCase) {
  Arguments skipped = quick();
  skipped.back() += ",crc-each-octet,terminate-each-error,rdmap-version,rdmap-unassigned-opcode";
  const Arguments listen{"--profile", "rping", "--listen",
                         "0",         "--run", weft_command() + " rping -c -a {host} -p {port} -C 1"};
  expect_clean(probed(joined(listen, skipped)), 40);
}

// Whichever case is running when the peer's process dies: no clause is blamed, and the verdict names the case.
TEST(PeerThatDies, IsGoneAndBreaksNoClause) {
  const std::uint16_t port = free_port();
  const TemporaryDirectory folder;
  Command server({"rping", "-s", "-P", "-a", "127.0.0.1", "-p", std::to_string(port)});
  ASSERT_TRUE(server.wait_for_error("listening on ")) << server.err();
  const Arguments target{"--profile", "rping", "127.0.0.1:" + std::to_string(port)};
  Command prober(joined(joined({"probe", "--verbose", "--json", folder.file("report.json")}, quick()), target));
  ASSERT_TRUE(prober.wait_for_output(" 3/")) << prober.err();
  server.signal(SIGKILL);
  static_cast<void>(server.wait());
  const Ended ended = prober.wait(std::chrono::seconds(120));
  EXPECT_EQ(ended.exit_code, 3) << ended.out << ended.err;
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the peer stopped accepting connections after case "));
  EXPECT_THAT(ended.out, HasSubstr("PEER GONE: "));
  std::ifstream file(folder.file("report.json"));
  const auto report = nlohmann::json::parse(file);
  EXPECT_EQ(report.at("verdict"), "peer_gone");
  EXPECT_GE(report.at("peer_gone").at("cases_finished"), 3);
  EXPECT_NE(report.at("peer_gone").at("after"), "");
  EXPECT_EQ(report.at("case_counts").at("fail"), 0) << ended.out;
  EXPECT_EQ(report.at("rule_counts").at("fail"), 0) << ended.out;
}

TEST(PeerThatDies, BeforeTheFirstCaseMayNeedP) {
  const std::uint16_t port = free_port();
  Command server({"rping", "-s", "-a", "127.0.0.1", "-p", std::to_string(port)});
  ASSERT_TRUE(server.wait_for_error("listening on ")) << server.err();
  const auto run = probed(joined({"--profile", "rping", "127.0.0.1:" + std::to_string(port)}, quick()));
  EXPECT_EQ(run.ended.exit_code, 3) << run.ended.out << run.ended.err;
  EXPECT_THAT(run.ended.err, HasSubstr("before the first case"));
  EXPECT_THAT(run.ended.err, HasSubstr("-P"));
  for (const auto& [name, verdict] : run.verdicts) EXPECT_EQ(verdict, "not_applicable") << name;
}

}  // namespace
}  // namespace weft::test
