// SPDX-License-Identifier: Apache-2.0
// The auditor of a capture: which connections it checks, and what it holds.
#include "conformance/capture_audit.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/conformance/wire_packets.hpp"

namespace weft::conformance::testing {
namespace {

class Capture {
 public:
  explicit Capture(CaptureAudit& audit) : audit_(audit) {}
  void send(const Segment& segment) {
    const Octets ip = ipv4(segment);
    audit_.take({.number = ++packets_,
                 .link = LinkType::kRawIp,
                 .captured = ip,
                 .original_size = static_cast<std::uint32_t>(ip.size())});
  }

 private:
  CaptureAudit& audit_;
  std::uint64_t packets_ = 0;
};

const std::string kRequest = std::string("MPA ID Req Frame") + std::string("\x40\x01\x00\x00", 4);

std::vector<ConnectionReport> reports_of(CaptureAudit& audit) {
  audit.finish();
  std::vector<ConnectionReport> all;
  while (auto report = audit.next()) all.push_back(std::move(*report));
  return all;
}

// Octets after a Request wait for the Reply, which tells how they are framed.
TEST(CaptureAudit, BoundsWhatWaitsInAllConnections) {
  for (const std::size_t most : {std::size_t{1} << 20, std::size_t{5000}}) {
    CaptureAudit audit;
    audit.hold_at_most(most);
    Capture capture(audit);
    const std::string data(1000, 'x');
    for (std::uint16_t port = 1000; port < 1010; ++port) {
      capture.send({.sequence = 1, .payload = kRequest, .client_port = port});
      capture.send({.sequence = 21, .payload = data, .client_port = port});
    }
    std::size_t evicted = 0;
    const auto reports = reports_of(audit);
    for (const ConnectionReport& report : reports) evicted += report.evicted ? 1 : 0;
    EXPECT_EQ(reports.size(), 10U);
    EXPECT_EQ(evicted, most == 5000 ? 5U : 0U);
    EXPECT_EQ(audit.tcp_connections(), 10U);
  }
}

TEST(CaptureAudit, ChecksTheSelectedConnections) {
  CaptureAudit audit;
  audit.select(*ConnectionFilter::parse("port 1001 or port 1003"));
  Capture capture(audit);
  for (std::uint16_t port = 1000; port < 1005; ++port)
    capture.send({.sequence = 1, .payload = kRequest, .client_port = port});
  const auto reports = reports_of(audit);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].info.number, 1U) << "they keep their numbers";
  EXPECT_EQ(reports[1].info.number, 3U);
  EXPECT_EQ(audit.tcp_connections(), 2U);
}

// Two weft ends on one host, to which the loopback interface shows no octets.
TEST(CaptureAudit, CountsSilentConnectionsWithinOneHost) {
  CaptureAudit audit;
  std::uint64_t packets = 0;
  const auto send = [&](const Segment& segment, bool within_host) {
    Octets ip = ipv4(segment);
    for (const std::size_t end : {std::size_t{15}, std::size_t{19}})  // the last octets of both addresses
      if (within_host) ip[end] = std::byte{1};
    audit.take({.number = ++packets,
                .link = LinkType::kRawIp,
                .captured = ip,
                .original_size = static_cast<std::uint32_t>(ip.size())});
  };
  const auto converse = [&](std::uint16_t port, bool within_host, const std::string& payload) {
    send({.syn = true, .ack = false, .client_port = port}, within_host);
    send({.from_server = true, .syn = true, .acknowledgement = 1, .client_port = port}, within_host);
    send({.sequence = 1, .payload = payload, .acknowledgement = 1, .client_port = port}, within_host);
  };
  converse(1000, true, "");
  converse(1001, false, "");
  converse(1002, true, "octets");
  send({.sequence = 1, .client_port = 1003}, true);  // begins later
  EXPECT_TRUE(reports_of(audit).empty());
  EXPECT_EQ(audit.tcp_connections(), 4U);
  EXPECT_EQ(audit.silent_connections(), 1U);
}

}  // namespace
}  // namespace weft::conformance::testing
