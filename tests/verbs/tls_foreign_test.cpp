// SPDX-License-Identifier: Apache-2.0
// TLS as the world knows it at the other end: Python's, before an end that speaks plain MPA.
#include <gtest/gtest.h>

#include <charconv>
#include <string>

#include "command.hpp"
#include "tls_relayed.hpp"

namespace weft::verbs::test {
namespace {

// The relay, and where it listens.
struct Relay {
  Relay(const RelayedEnds& ends, const std::string& role)
      : command({WEFT_TLS_PROXY, role, std::to_string(ends.behind()), ends.keys.path(ends.relays_name() + ".pem"),
                 ends.keys.path("ca.pem")},
                "/usr/bin/python3") {
    const std::string before = "listening on ";
    EXPECT_TRUE(command.wait_for_output("\n")) << command.err();
    const std::string said = command.out();
    const std::string digits = said.substr(std::min(said.find(before) + before.size(), said.size()));
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
  }
  weft::test::Command command;
  std::uint16_t port = 0;
};

void expect_traffic(HasTls which, const std::string& role) {
  RelayedEnds ends(which);
  Relay relay(ends, role);
  ends.exchange(relay.port);
  const auto ended = relay.command.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("both have closed"), std::string::npos) << "each close_notify came";
}

TEST(TlsForeign, AClientWithItsOwnTls) { expect_traffic(HasTls::kListener, "connect"); }
TEST(TlsForeign, AListenerWithItsOwnTls) { expect_traffic(HasTls::kClient, "listen"); }

}  // namespace
}  // namespace weft::verbs::test
