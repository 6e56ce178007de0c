// SPDX-License-Identifier: Apache-2.0
// Clients that know RDMA but not rping's manners: the persistent server names what was wrong with each, and serves the
// next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <string>
#include <thread>

#include "command.hpp"
#include "tools/link/advertisement.hpp"
#include "tools/link/link.hpp"

namespace weft::test {
namespace {

using tools::Advertisement;

class HostileClient : public testing::Test {
 protected:
  HostileClient()
      : port_(free_port()), server_({"rping", "-s", "-P", "-V", "-d", "-a", "127.0.0.1", "-p", std::to_string(port_)}) {
    EXPECT_TRUE(server_.wait_for_output("listening on ")) << server_.err();
  }

  tools::Link connect() const {
    auto link = tools::Link::towards(*verbs::Endpoint::parse("127.0.0.1:" + std::to_string(port_)), {}, {}, {});
    EXPECT_TRUE(link) << link.error().sentence;
    const auto connected = link->connect({});
    EXPECT_TRUE(connected) << connected.error().sentence;
    return std::move(*link);
  }

  static void send(tools::Link& link, Bytes octets) {
    const verbs::Sge segment{.address = reinterpret_cast<std::uint64_t>(octets.data()),
                             .length = static_cast<std::uint32_t>(octets.size())};
    EXPECT_TRUE(link.post_send({.opcode = verbs::SendOpcode::kSend,
                                .flags = verbs::SendFlags::kSignaled | verbs::SendFlags::kInline,
                                .segments = {&segment, 1}}));
  }

  // The server says this about us on stderr, and then serves another client.
  void expect_complaint(const std::string& words) {
    for (int i = 0; i < 2000 && server_.err().find(words) == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_THAT(server_.err(), testing::HasSubstr(words));
    const Ended next = run({"rping", "-c", "-a", "127.0.0.1", "-p", std::to_string(port_), "-C", "2", "-V"});
    EXPECT_EQ(next.exit_code, 0) << next.err;
  }

  std::uint16_t port_;
  Command server_;
};

// The line has the peer, what was wrong, the clause, and where in the octets that came.
TEST_F(HostileClient, SpeaksAnUnknownRevision) {
  using asio = boost::asio::ip::tcp;
  boost::asio::io_context context;
  asio::socket client(context);
  client.connect({boost::asio::ip::address_v4::loopback(), port_});
  const std::string frame = std::string("MPA ID Req Frame") + '\x40' + '\x09' + std::string(2, '\0');
  boost::asio::write(client, boost::asio::buffer(frame));
  expect_complaint(
      "startup with 127.0.0.1:" + std::to_string(client.local_endpoint().port()) +
      " failed: the startup frame has an MPA revision that this end does not accept [MPA-7.1.1-21] layer 2 "
      "(LLP), type 0, code 0x04, at octet 17 of its startup frame");
}

TEST_F(HostileClient, ShortMessage) {
  tools::Link link = connect();
  send(link, std::as_bytes(std::span("hello", 5)));
  expect_complaint("a message of 5 octets");
}

TEST_F(HostileClient, EmptyMessage) {
  tools::Link link = connect();
  send(link, {});
  expect_complaint("a message of 0 octets");
}

TEST_F(HostileClient, AdvertisesNothing) {
  tools::Link link = connect();
  send(link, Advertisement{.address = 1, .rkey = 2, .size = 0}.serialize());
  expect_complaint("advertises 0 octets");
}

TEST_F(HostileClient, AdvertisesGigabytes) {
  tools::Link link = connect();
  send(link, Advertisement{.address = 1, .rkey = 2, .size = 0xffffffff}.serialize());
  expect_complaint("advertises 4294967295 octets");
}

// Our own stack refuses the server's Read with a Terminate, which ends the connection at both ends.
TEST_F(HostileClient, AdvertisesMemoryThatItDoesNotHave) {
  tools::Link link = connect();
  send(link, Advertisement{.address = 4096, .rkey = 0xdeadbeef, .size = 64}.serialize());
  expect_complaint("remote access error");
  EXPECT_THAT(server_.err(),
              testing::ContainsRegex("queue pair [0-9]+ with 127.0.0.1:[0-9]+: the peer terminated the stream: "));
}

TEST_F(HostileClient, SinkSmallerThanTheEcho) {
  tools::Link link = connect();
  std::vector<std::byte> text(100, std::byte{'x'});
  const auto region = link.register_memory(text, verbs::Access::kLocalWrite | verbs::Access::kRemoteRead);
  ASSERT_TRUE(region);
  std::vector<std::byte> inbox(16);
  const auto inbox_region = link.register_memory(inbox, verbs::Access::kLocalWrite);
  ASSERT_TRUE(inbox_region);
  ASSERT_TRUE(link.post_receive(inbox_region->sge()));
  // 25 octets: too short for the text to be judged, long enough not to fit into the sink.
  send(link, Advertisement{.address = region->iova(), .rkey = region->rkey(), .size = 25}.serialize());
  send(link, Advertisement{.address = region->iova(), .rkey = region->rkey(), .size = 10}.serialize());
  expect_complaint("sink has 10 octets");
}

TEST_F(HostileClient, SendsTextThatIsNotRpings) {
  tools::Link link = connect();
  std::vector<std::byte> text(100, std::byte{'x'});
  const auto region = link.register_memory(text, verbs::Access::kLocalWrite | verbs::Access::kRemoteRead);
  ASSERT_TRUE(region);
  send(link, Advertisement{.address = region->iova(), .rkey = region->rkey(), .size = 100}.serialize());
  expect_complaint("not what the client should send");
  EXPECT_THAT(server_.err(), testing::HasSubstr(": 0 pings, 0 octets each way, 1 data mismatch."));
}

TEST_F(HostileClient, LeavesInTheMiddle) {
  {
    tools::Link link = connect();
    std::vector<std::byte> text(25, std::byte{'x'});
    const auto region = link.register_memory(text, verbs::Access::kLocalWrite | verbs::Access::kRemoteRead);
    ASSERT_TRUE(region);
    std::vector<std::byte> inbox(16);
    const auto inbox_region = link.register_memory(inbox, verbs::Access::kLocalWrite);
    ASSERT_TRUE(inbox_region);
    ASSERT_TRUE(link.post_receive(inbox_region->sge()));
    send(link, Advertisement{.address = region->iova(), .rkey = region->rkey(), .size = 25}.serialize());
    for (bool answered = false; !answered;) {
      const auto completion = link.completions().next();
      ASSERT_TRUE(completion && completion->status == verbs::WcStatus::kSuccess);
      answered = completion->opcode == verbs::WcOpcode::kReceive;
    }
  }
  expect_complaint("in the middle of a ping");
}

}  // namespace
}  // namespace weft::test
