// SPDX-License-Identifier: Apache-2.0
// The persistent server among many: more clients than it takes, and clients that reset their connection at every
// moment. Clients that behave are served all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <thread>

#include "command.hpp"
#include "tests/raw_tcp.hpp"
#include "tools/link/advertisement.hpp"
#include "tools/link/link.hpp"

namespace weft::test {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

class Server {
 public:
  explicit Server(std::vector<std::string> more = {}) : command_(arguments(std::move(more))) {
    EXPECT_TRUE(command_.wait_for_output("listening on ")) << command_.err();
  }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port); }
  [[nodiscard]] Ended ping() const {
    return run({"rping", "-c", "-a", "127.0.0.1", "-p", std::to_string(port), "-C", "2", "-V"});
  }
  [[nodiscard]] bool says(const std::string& words) const {
    for (int i = 0; i < 4000 && command_.err().find(words) == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return command_.err().find(words) != std::string::npos;
  }

  const std::uint16_t port = free_port();

 private:
  [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> more) const {
    std::vector<std::string> all{"rping", "-s", "-P", "-V", "-d", "-a", "127.0.0.1", "-p", std::to_string(port)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Command command_;
};

// A client that is connected and has not sent anything.
class Guest {
 public:
  explicit Guest(const Server& server) : link_(towards(server)), connected_(link_.connect({})) {}
  [[nodiscard]] const tools::Outcome<std::vector<std::byte>>& connected() const { return connected_; }

  // A whole ping: the server reads our text, then writes it back, and says go ahead each time.
  void expect_service() {
    std::vector<std::byte> text(25, std::byte{'x'}), echo(25), inbox(16);  // too short for the server to judge it
    const auto source = link_.register_memory(text, verbs::Access::kLocalWrite | verbs::Access::kRemoteRead);
    const auto sink = link_.register_memory(echo, verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite);
    const auto messages = link_.register_memory(inbox, verbs::Access::kLocalWrite);
    ASSERT_TRUE(source && sink && messages);
    for (const auto* region : {&*source, &*sink}) {
      ASSERT_TRUE(link_.post_receive(messages->sge()));
      advertise(*region);
      for (bool answered = false; !answered;) {
        const auto completion = link_.completions().next();
        ASSERT_TRUE(completion && completion->status == verbs::WcStatus::kSuccess);
        answered = completion->opcode == verbs::WcOpcode::kReceive;
      }
    }
    EXPECT_EQ(echo, text);
  }

 private:
  static tools::Link towards(const Server& server) {
    auto link = tools::Link::towards(*verbs::Endpoint::parse(server.address()), {}, {}, {});
    if (!link) throw std::runtime_error(link.error().sentence);
    return std::move(*link);
  }

  void advertise(const verbs::MemoryRegion& region) {
    const auto octets = tools::Advertisement{region.iova(), region.rkey(), 25}.serialize();
    const verbs::Sge segment{.address = reinterpret_cast<std::uint64_t>(octets.data()),
                             .length = static_cast<std::uint32_t>(octets.size())};
    ASSERT_TRUE(link_.post_send({.opcode = verbs::SendOpcode::kSend,
                                 .flags = verbs::SendFlags::kSignaled | verbs::SendFlags::kInline,
                                 .segments = {&segment, 1}}));
  }

  tools::Link link_;
  tools::Outcome<std::vector<std::byte>> connected_;
};

TEST(Crowd, WhoComesBeyondTheLimitIsRejectedUntilSomebodyLeaves) {
  const Server server({"--max-clients", "2"});
  Guest first(server);
  EXPECT_TRUE(first.connected());
  {
    const Guest second(server);
    EXPECT_TRUE(second.connected());
    const Guest third(server);
    ASSERT_FALSE(third.connected());
    EXPECT_THAT(third.connected().error().sentence, HasSubstr("rejected the connection"));
    EXPECT_TRUE(server.says("rejected, for 2 others are being served"));
    first.expect_service();
  }
  // The second has left; its place is free as soon as the server has noticed.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  Ended next = server.ping();
  while (next.exit_code != 0 && std::chrono::steady_clock::now() < give_up) next = server.ping();
  EXPECT_EQ(next.exit_code, 0) << next.err;
  first.expect_service();
}

// Says some octets over plain TCP, waits for some, says some more, and resets the connection.
void say_and_reset(const Server& server, std::string_view octets, std::size_t hear, std::string_view more = {}) {
  RawSocket socket({transport::Address::loopback(transport::Family::kIpv4), server.port}, octets);
  EXPECT_EQ(socket.hear(hear).size(), hear);
  socket.say(more);
  socket.reset();
}

TEST(Crowd, ResetsAtEveryMomentTouchNobodyElse) {
  const std::string request = "MPA ID Req Frame\x40\x01\x00\x00"s;  // RFC 5044 section 7.1.1: C, revision 1
  const std::string half_an_fpdu = "\x00\x22\x41"s;                 // of a Send with an advertisement
  const std::size_t reply = request.size();
  const Server server;
  Guest guest(server);
  ASSERT_TRUE(guest.connected());
  for (int round = 0; round < 5; ++round) {
    say_and_reset(server, "", 0);
    say_and_reset(server, request.substr(0, 10), 0);
    say_and_reset(server, request, 0);
    say_and_reset(server, request, reply / 2);
    say_and_reset(server, request, reply);
    say_and_reset(server, request + half_an_fpdu, 0);
    say_and_reset(server, request, reply, half_an_fpdu);
    guest.expect_service();
  }
  const Ended next = server.ping();
  EXPECT_EQ(next.exit_code, 0) << next.err;
}

}  // namespace
}  // namespace weft::test
