// SPDX-License-Identifier: Apache-2.0
// Arguments that can never be right are refused by name, and nothing is done.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "loopback.hpp"
#include "tests/transport/support.hpp"

namespace weft::verbs::test {
namespace {

void expect_refused(const Result<void>& result, std::string_view argument) {
  ASSERT_FALSE(result) << argument;
  EXPECT_EQ(result.error().code, Errc::kInvalidArgument) << result.error().message();
  EXPECT_EQ(result.error().argument, argument) << result.error().message();
}

template <typename T>
Result<void> outcome(const Result<T>& result) {
  if (!result) return std::unexpected(result.error());
  return {};
}

// --- Work requests

TEST(WorkRequests, UnknownOpcodesAndFlagsAreNotSent) {
  Pair pair;
  auto& qp = *pair.client.qp;
  must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
  for (const int opcode : {10, 33, 99, 255}) {
    expect_refused(qp.post_send({.opcode = static_cast<SendOpcode>(opcode)}), "opcode");
  }
  for (const std::uint32_t bit : {0x10U, 0x100U, 0x80000000U}) {
    expect_refused(qp.post_send({.opcode = SendOpcode::kSend, .flags = static_cast<SendFlags>(bit)}), "flags");
  }
  const WindowBind bind{.access = static_cast<Access>(0x8000)};
  expect_refused(qp.post_send({.opcode = SendOpcode::kBindWindow, .bind = bind}), "bind.access");
  // What arrives is the first Send after all that.
  must(qp.post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kInline}), "post_send");
  EXPECT_EQ(pair.server.next().byte_len, 0U);
  EXPECT_FALSE(pair.client.next_within(pair.client.cq, 1ms));
}

TEST(WorkRequests, AListIsPostedUpToTheMistake) {
  Pair pair;
  for (int i = 0; i < 3; ++i) must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
  std::vector<SendRequest> list(3, {.wr_id = 1, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled});
  list[2].opcode = static_cast<SendOpcode>(99);
  const auto posted = pair.client.qp->post_send(list);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().posted, 2U);
  EXPECT_EQ(posted.error().error.argument, "opcode");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
}

TEST(WorkRequests, AMistakeBehindAnotherOneIsNotToBlame) {
  End end;
  std::vector<SendRequest> list(2, {.opcode = SendOpcode::kSend});
  list[1].opcode = static_cast<SendOpcode>(99);
  const auto posted = end.qp->post_send(list);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().posted, 0U);
  EXPECT_EQ(posted.error().error.code, Errc::kInvalidState);  // not connected
}

// --- Policies

TEST(Policies, WhatContradictsItselfIsRefused) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto id = must(ConnectionId::create(events), "ConnectionId");
  expect_refused(id.set_policy({.startup = {.mpa_revision = 1, .peer_to_peer = true}}), "policy.startup.peer_to_peer");
  expect_refused(id.set_policy({.startup = {.enhanced = false, .peer_to_peer = true}}), "policy.startup.peer_to_peer");
  expect_refused(id.set_policy({.startup = {.peer_to_peer = true, .rtr = {}}}), "policy.startup.rtr");
  expect_refused(id.set_policy({.startup = {.no_receive = static_cast<NoReceive>(9)}}), "policy.startup.no_receive");
  must(id.set_policy({.startup = {.rtr = {}, .no_receive = NoReceive::kTerminate}}), "set_policy");
}

TEST(Policies, FpduSizesAreWhatMpaAllows) {  // MPA-4.5-08, MPA-3-05
  auto events = must(EventChannel::create(), "EventChannel");
  auto id = must(ConnectionId::create(events), "ConnectionId");
  for (const std::uint32_t size : {1U, 127U, 64769U, 70000U}) {
    expect_refused(id.set_policy({.startup = {.max_ulpdu = size}}), "policy.startup.max_ulpdu");
  }
  for (const std::uint32_t size : {0U, 128U, 64768U})
    must(id.set_policy({.startup = {.max_ulpdu = size}}), "set_policy");
}

TEST(Policies, CongestionControlIsTheSystems) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto id = must(ConnectionId::create(events), "ConnectionId");
  expect_refused(id.set_policy({.startup = {.congestion_control = "none_such"}}), "policy.startup.congestion_control");
  must(id.set_policy({.startup = {.congestion_control = "reno"}}), "set_policy");
}

// Of all TCP connections of this process.
std::vector<std::string> congestion_controls() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    const bool connected = ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0;
    if (connected && peer.ss_family == AF_INET) names.push_back(transport::test::congestion_control_of(descriptor));
  }
  return names;
}

TEST(Policies, CongestionControlHoldsForBothEnds) {
  const Policy policy{.startup = {.congestion_control = "reno"}};
  Pair pair({.client_policy = policy, .server_policy = policy});
  EXPECT_EQ(congestion_controls(), (std::vector<std::string>{"reno", "reno"}));
  pair.disconnect();
}

TEST(Policies, TimeOutsHaveARange) {
  using Member = std::chrono::milliseconds TimeoutPolicy::*;
  constexpr std::pair<Member, std::string_view> kMembers[] = {
      {&TimeoutPolicy::connect, "policy.timeouts.connect"},
      {&TimeoutPolicy::startup, "policy.timeouts.startup"},
      {&TimeoutPolicy::finish, "policy.timeouts.finish"},
      {&TimeoutPolicy::close, "policy.timeouts.close"},
      {&TimeoutPolicy::user, "policy.timeouts.user"},
      {&TimeoutPolicy::no_receive, "policy.timeouts.no_receive"},
      {&TimeoutPolicy::first_fpdu_delay, "policy.timeouts.first_fpdu_delay"},
      {&TimeoutPolicy::disconnect, "policy.timeouts.disconnect"}};
  auto events = must(EventChannel::create(), "EventChannel");
  auto id = must(ConnectionId::create(events), "ConnectionId");
  for (const auto& [member, name] : kMembers) {
    for (const auto time :
         {-1ms, std::chrono::milliseconds::min(), kMaxTimeout + 1ms, std::chrono::milliseconds::max()}) {
      Policy policy;
      policy.timeouts.*member = time;
      expect_refused(id.set_policy(policy), name);
    }
  }
}

// The longest that is allowed reaches neither the end of the clock nor that of the kernel's integers.
TEST(Policies, TheLongestTimeOutsWork) {
  const Policy longest{.timeouts = {.connect = kMaxTimeout,
                                    .startup = kMaxTimeout,
                                    .no_receive = kMaxTimeout,
                                    .finish = kMaxTimeout,
                                    .close = kMaxTimeout,
                                    .user = kMaxTimeout}};
  Pair pair({.client_policy = longest, .server_policy = longest});
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled}), "post_send");
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  pair.disconnect();
}

// --- Addresses and waiting

TEST(Addresses, BothEndsAreOfOneFamily) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto id = must(ConnectionId::create(events), "ConnectionId");
  expect_refused(id.resolve_address(loopback("::1", 5), loopback("127.0.0.1")), "source");
  must(id.bind_address(loopback("127.0.0.1")), "bind_address");
  expect_refused(id.resolve_address(loopback("::1", 5)), "destination");
  must(id.resolve_address(loopback("127.0.0.1", 5)), "resolve_address");
  expect_event(events, ConnectionEventType::kAddressResolved);
}

// A link-local address says nothing without its interface: the address is wrong, not the system.
TEST(Addresses, ALinkLocalOneNeedsItsInterface) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto id = must(ConnectionId::create(events), "ConnectionId");
  expect_refused(id.bind_address(loopback("fe80::1")), "local");
}

// Without a descriptor the kernel cannot be asked for the interfaces: that is no mistake of the caller.
TEST(Addresses, DevicesAreListedWithADescriptor) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto devices = Device::list();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, Errc::kSystem) << devices.error().message();
}

TEST(Addresses, AListenerHasRoomForSomebody) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto id = must(ConnectionId::create(events), "ConnectionId");
  must(id.bind_address(loopback("127.0.0.1")), "bind_address");
  for (const int backlog : {0, -1}) expect_refused(id.listen(backlog), "backlog");
  must(id.listen(1), "listen");
}

TEST(Waiting, TakesNoNegativeTime) {
  auto events = must(EventChannel::create(), "EventChannel");
  expect_refused(outcome(events.get_event(-1ms)), "at_most");
  auto id = must(ConnectionId::create(events), "ConnectionId");
  must(id.resolve_address(loopback("127.0.0.1", 5)), "resolve_address");
  // 2^32 ms are not 0.
  EXPECT_EQ(must(events.get_event(std::chrono::milliseconds(1LL << 32)), "get_event").type,
            ConnectionEventType::kAddressResolved);
}

// --- Completion queues

TEST(Arming, TakesTheTwoKindsAndNeedsNoChannel) {
  End end;
  expect_refused(end.cq.arm(static_cast<Arm>(9)), "which");
  auto silent = must(end.device.create_completion_queue(), "cq");
  must(silent.arm(Arm::kAll), "arm");  // as libibverbs does
}

// --- Objects of others

TEST(Objects, OfOtherDevicesAndDomainsAreRefused) {
  End end, other;  // two opens of one interface
  EXPECT_EQ(other.device.info().name, end.device.info().name);
  expect_refused(outcome(end.domain.create_queue_pair({.send_cq = &other.cq, .receive_cq = &end.cq})), "send_cq");
  expect_refused(outcome(end.domain.create_queue_pair({.send_cq = &end.cq, .receive_cq = &other.cq})), "receive_cq");
  auto srq = must(other.domain.create_shared_receive_queue(), "srq");
  expect_refused(outcome(end.domain.create_queue_pair({.send_cq = &end.cq, .receive_cq = &end.cq, .srq = &srq})),
                 "srq");
  std::vector<std::byte> octets(8);
  auto next_door = must(end.device.allocate_protection_domain(), "domain");
  expect_refused(outcome(next_door.register_memory(octets.data(), 8, kAllAccess, {.only_for = &*end.qp})), "only_for");
}

// --- Memory

TEST(Memory, UnknownRightsAreRefused) {
  End end;
  std::vector<std::byte> octets(8);
  expect_refused(outcome(end.domain.register_memory(octets.data(), 8, static_cast<Access>(0x8000))), "access");
}

TEST(Memory, TheArgumentToBlameIsTheOneThatWasGiven) {
  End end;
  std::vector<std::byte> octets(8);
  constexpr auto kMost = std::numeric_limits<std::size_t>::max();
  auto* const last = std::bit_cast<std::byte*>(~std::uintptr_t{0});
  const auto blamed = [&](void* address, std::size_t length, const RegionOptions& options = {}) {
    return outcome(end.domain.register_memory(address, length, kAllAccess, options));
  };
  expect_refused(blamed(last, 4096), "length");
  expect_refused(blamed(octets.data(), kMost), "length");
  expect_refused(blamed(nullptr, kMost), "length");  // the end rounded up to a page is 0
  expect_refused(blamed(nullptr, kMost, {.iova = 0}), "length");
  expect_refused(outcome(end.domain.register_memory(octets.data(), kMost, kAllAccess | Access::kZeroBased)), "length");
  expect_refused(blamed(octets.data(), 8, {.iova = ~std::uint64_t{0}}), "iova");
}

}  // namespace
}  // namespace weft::verbs::test
