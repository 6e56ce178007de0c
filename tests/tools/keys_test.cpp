// SPDX-License-Identifier: Apache-2.0
// `weft keys`, and what it makes in use: `weft rping` over TLS as docs/tls.md has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "command.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;
using testing::HasSubstr;

struct Keys : testing::Test {
  const TemporaryDirectory directory{};
  const std::string folder = directory.file("keys");
  const Ended made = run({"keys", folder});

  [[nodiscard]] std::string policy(const std::string& name) const {
    return "tls=require,tls-certificate=" + folder + '/' + name + ".pem,tls-ca=" + folder + "/ca.pem";
  }
};

mode_t mode_of(const std::string& path) {
  struct stat about{};
  EXPECT_EQ(::stat(path.c_str(), &about), 0) << path;
  return about.st_mode & 0777U;
}

TEST_F(Keys, AreTheirOwnersAlone) {
  EXPECT_EQ(made.exit_code, 0) << made.err;
  for (const char* secret : {"/ca-key.pem", "/server.pem", "/client.pem"}) EXPECT_EQ(mode_of(folder + secret), 0600U);
  EXPECT_THAT(made.out, HasSubstr(folder + "/ca.pem"));
}

TEST_F(Keys, AreNotReplaced) {
  const Ended again = run({"keys", folder});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_TRUE(is_one_line(again.err)) << again.err;
  EXPECT_THAT(again.err, HasSubstr("/ca.pem: File exists"));
}

TEST_F(Keys, SecureAPing) {
  const std::string port = std::to_string(free_port());
  Command server(
      {"--log", "info", "rping", "-s", "-a", "127.0.0.1", "-p", port, "-d", "-C", "3", "--policy", policy("server")});
  ASSERT_TRUE(server.wait_for_output("listening on ")) << server.err();
  const Ended client = run({"--log", "info", "rping", "-c", "-a", "127.0.0.1", "-p", port, "-C", "3", "-V", "--policy",
                            policy("client") + ",tls-expect=ip:127.0.0.1"});
  EXPECT_EQ(client.exit_code, 0) << client.err;
  EXPECT_THAT(client.err, HasSubstr("TLS 1.3 with TLS_"));
  EXPECT_THAT(client.err, HasSubstr("the peer is CN=weft server"));
  const Ended ended = server.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the peer is CN=weft client"));
}

TEST_F(Keys, KeepOutPlainClients) {
  const std::string port = std::to_string(free_port());
  Command server({"rping", "-s", "-P", "-a", "127.0.0.1", "-p", port, "-d", "--policy", policy("server")});
  ASSERT_TRUE(server.wait_for_output("listening on ")) << server.err();
  const Ended client = run({"rping", "-c", "-a", "127.0.0.1", "-p", port, "-C", "1"});
  EXPECT_EQ(client.exit_code, 1) << client.out;
  EXPECT_THAT(client.err, HasSubstr("the peer uses TLS, and this end has tls=off"));
  EXPECT_TRUE(server.wait_for_error("does not use TLS, and this end has tls=require")) << server.err();
}

// The line names what was the matter, and no more than TLS knows of it.
TEST_F(Keys, KeepOutEarlierVersions) {
  if (Command({"-c", "command -v openssl"}, "sh").wait().exit_code != 0)
    GTEST_SKIP() << "openssl is not installed (Debian package openssl): nothing was tried";
  const std::string port = std::to_string(free_port());
  Command server({"rping", "-s", "-P", "-a", "127.0.0.1", "-p", port, "-d", "--policy", policy("server")});
  ASSERT_TRUE(server.wait_for_output("listening on ")) << server.err();
  const Ended client = Command({"s_client", "-tls1_2", "-connect", "127.0.0.1:" + port}, "openssl").wait();
  EXPECT_NE(client.exit_code, 0);
  EXPECT_THAT(client.err, HasSubstr("alert protocol version"));
  EXPECT_TRUE(server.wait_for_error("failed: TLS: unsupported protocol")) << server.err();
}

TEST(KeysArguments, NamesAreChecked) {
  const TemporaryDirectory directory;
  const Ended bad = run({"keys", directory.file("k"), "--name", "host"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(is_one_line(bad.err)) << bad.err;
  EXPECT_FALSE(std::filesystem::exists(directory.file("k")));
  for (const char* two : {"dns:a.example,IP:10.0.0.1", "dns:a.example+ip:10.0.0.1", "dns:.example"}) {
    EXPECT_EQ(run({"keys", directory.file("k"), "--name", two}).exit_code, 2) << two;
    EXPECT_FALSE(std::filesystem::exists(directory.file("k"))) << two;
  }
  const Ended good = run({"keys", directory.file("k"), "--name", "dns:a.example", "--name", "uri:weft://a"});
  EXPECT_EQ(good.exit_code, 0) << good.err;
}

TEST(KeysArguments, APolicyOfRpingIsChecked) {
  const Ended bad = run({"rping", "-s", "--policy", "tls=require,tls-ca=/nonexistent.pem"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(is_one_line(bad.err)) << bad.err;
  EXPECT_THAT(bad.err, HasSubstr("--policy: tls-ca: cannot be read"));
}

}  // namespace
}  // namespace weft::test
