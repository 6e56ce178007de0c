// SPDX-License-Identifier: Apache-2.0
// Clauses about memory over the whole stack: who may reach which octets, and which end hears of an access that is
// refused (RFC 5041 section 8, RFC 5040 section 8.1, RFC 5042 sections 2.2 and 6); and where atomics may go (RFC 7306
// section 5.1).
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "loopback.hpp"
#include "verbs/base/device_state.hpp"

namespace weft::verbs::test {
namespace {

struct Code {
  std::uint8_t layer, type, code;
};
constexpr Code kWriteBounds{1, 1, 1}, kWriteAssociation{1, 1, 2}, kInvalidToWrite{1, 1, 0};
constexpr Code kReadBounds{0, 1, 1}, kReadAssociation{0, 1, 3}, kReadRights{0, 1, 2}, kInvalidToRead{0, 1, 0};
constexpr Code kUnaligned{0, 2, 7};

// A client with 64 octets of its own, and a server whose memory it asks for.
struct Asker {
  Pair pair{};
  Buffer local{pair.client, 64};

  void post(SendOpcode opcode, std::uint32_t length, std::uint64_t offset, std::uint32_t rkey) {
    const auto sge = local.sge(0, length);
    must(pair.client.qp->post_send({.opcode = opcode,
                                    .flags = SendFlags::kSignaled,
                                    .segments = {&sge, 1},
                                    .remote_address = offset,
                                    .rkey = rkey}),
         "post_send");
  }
  void expect_allowed(SendOpcode opcode, std::uint32_t length, std::uint64_t offset, std::uint32_t rkey) {
    post(opcode, length, offset, rkey);
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  }
  // The owner's application hears of it, and so does the asker's: by the Terminate.
  void expect_refused(SendOpcode opcode, std::uint32_t length, std::uint64_t offset, std::uint32_t rkey, Code code) {
    post(opcode, length, offset, rkey);
    const auto at_owner = pair.server.next_async(), at_asker = pair.client.next_async();
    EXPECT_EQ(at_owner.type,
              code.type == 1 ? AsyncEventType::kQueuePairAccessError : AsyncEventType::kQueuePairRequestError);
    EXPECT_EQ(at_owner.number, pair.server.qp->number());
    ASSERT_TRUE(at_owner.error && at_asker.error);
    EXPECT_FALSE(at_owner.error->remote);
    EXPECT_TRUE(at_asker.error->remote);
    for (const StreamError& error : {*at_owner.error, *at_asker.error}) {
      EXPECT_EQ(error.layer, code.layer);
      EXPECT_EQ(error.type, code.type);
      EXPECT_EQ(error.code, code.code);
    }
  }
};

constexpr auto kRead = SendOpcode::kRdmaRead, kWrite = SendOpcode::kRdmaWrite;

// DDP-8.2-01, DDP-8.2-04, DDP-8.3.1-02, DDP-8.3-05
TEST(Association, MemoryOfAnotherDomainIsRefusedAndItsOwnerHearsOfIt) {
  for (const auto& [opcode, code] : {std::pair{kWrite, kWriteAssociation}, std::pair{kRead, kReadAssociation}}) {
    Asker asker;
    auto stranger = must(asker.pair.server.device.allocate_protection_domain(), "domain");
    std::vector<std::byte> octets(64);
    const auto region = must(stranger.register_memory(octets.data(), 64, kAllAccess), "register");
    asker.local.fill(1);
    asker.expect_refused(opcode, 64, region.iova(), region.rkey(), code);
    EXPECT_EQ(octets, std::vector<std::byte>(64));
  }
}

// DDP-8.2-02, DDP-8.2-06, DDP-8.3-03, DDP-8.3.1-03, RDMAP-3.2-10
TEST(Association, MemoryForOneStreamIsRefusedToAnotherOfTheSameDomain) {
  for (const auto& [opcode, code] : {std::pair{kWrite, kWriteAssociation}, std::pair{kRead, kReadAssociation}}) {
    Asker asker;
    End& server = asker.pair.server;
    auto second = must(server.domain.create_queue_pair({.send_cq = &server.cq, .receive_cq = &server.cq}), "qp");
    Buffer ours(server, 64, kAllAccess, {.only_for = &*server.qp}),
        others(server, 64, kAllAccess, {.only_for = &second});
    asker.local.fill(1);
    asker.expect_allowed(opcode, 64, ours.remote(), ours.region.rkey());
    asker.expect_refused(opcode, 64, others.remote(), others.region.rkey(), code);
    EXPECT_EQ(others.octets, std::vector<std::byte>(64));
  }
}

// DDP-8.3.1-06, RDMAP-8.1.1-05, RDMAP-3.2-10
TEST(Rights, ReadWriteOrBothAsTheOwnerSays) {
  {
    Asker asker;
    Buffer both(asker.pair.server, 64), readable(asker.pair.server, 64, Access::kRemoteRead);
    asker.expect_allowed(kWrite, 64, both.remote(), both.region.rkey());
    asker.expect_allowed(kRead, 64, both.remote(), both.region.rkey());
    asker.expect_allowed(kRead, 64, readable.remote(), readable.region.rkey());
    asker.expect_refused(kWrite, 64, readable.remote(), readable.region.rkey(), kInvalidToWrite);  // DDP-7.1-13
  }
  Asker asker;
  Buffer writable(asker.pair.server, 64, Access::kLocalWrite | Access::kRemoteWrite);
  asker.expect_allowed(kWrite, 64, writable.remote(), writable.region.rkey());
  asker.expect_refused(kRead, 64, writable.remote(), writable.region.rkey(), kReadRights);
}

// DDP-8.3-01, DDP-8.3.1-04, DDP-8.3.1-05, RDMAP-8.1.1-04: the middle of some memory, to the octet.
TEST(Ranges, AreExactAndSetByTheOwner) {
  struct Case {
    SendOpcode opcode;
    std::int64_t from;
    std::uint32_t length;
    Code code;
  };
  for (const Case& c :
       {Case{kWrite, -1, 1, kWriteBounds}, Case{kWrite, 0, 17, kWriteBounds}, Case{kWrite, 16, 1, kWriteBounds},
        Case{kRead, -1, 1, kReadBounds}, Case{kRead, 0, 17, kReadBounds}, Case{kRead, 16, 1, kReadBounds}}) {
    Asker asker;
    std::vector<std::byte> octets(48);
    const auto region = must(asker.pair.server.domain.register_memory(octets.data() + 16, 16, kAllAccess), "register");
    asker.local.fill(1);
    asker.expect_allowed(kRead, 16, region.iova(), region.rkey());
    asker.local.fill(1);
    asker.expect_refused(c.opcode, c.length, region.iova() + static_cast<std::uint64_t>(c.from), region.rkey(), c.code);
    EXPECT_EQ(octets, std::vector<std::byte>(48));
  }
}

// DDP-8.3-01, DDP-8.3-02, DDP-8.3.1-05, DDP-8.3.1-06, RDMAP-8.1.1-04, RDMAP-8.1.1-05, RDMAP-3.2-10: what was allowed is
// refused from the moment on in which the owner takes it back.
TEST(Ranges, AreRevokedAtAnyTime) {
  for (const auto& [opcode, code] : {std::pair{kWrite, kInvalidToWrite}, std::pair{kRead, kInvalidToRead}}) {
    Asker asker;
    Buffer target(asker.pair.server, 64);
    const auto rkey = target.region.rkey();
    asker.expect_allowed(opcode, 64, target.remote(), rkey);
    asker.expect_allowed(kRead, 64, target.remote(), rkey);  // and so the Write has been placed
    const auto offset = target.remote();
    must(target.region.deregister(), "deregister");
    std::ranges::fill(target.octets, std::byte{7});
    asker.local.fill(1);
    asker.expect_refused(opcode, 64, offset, rkey, code);
    EXPECT_EQ(target.octets, std::vector<std::byte>(64, std::byte{7}));
  }
}

// RDMAPX-8.2-04, RDMAPX-8.2-05, RDMAPX-5.1.1-05, RDMAPX-5.1.1-06, RDMAPX-5.1.1-07, RDMAPX-5.1.2-07, RDMAPX-5.1.2-08,
// RDMAPX-5.1.2-09, RDMAPX-5.1.2-10
TEST(Atomics, OnAnUnalignedAddressChangeNothingAndEndTheStream) {
  for (const SendOpcode opcode : {SendOpcode::kFetchAndAdd, SendOpcode::kCompareAndSwap}) {
    Asker asker;
    Buffer target(asker.pair.server, 64);
    const auto sge = asker.local.sge(0, 8);
    must(asker.pair.client.qp->post_send({.opcode = opcode,
                                          .segments = {&sge, 1},
                                          .remote_address = target.remote() + 4,
                                          .rkey = target.region.rkey(),
                                          .compare = 0,
                                          .swap_or_add = 0x0101010101010101}),
         "post_send");
    EXPECT_EQ(asker.pair.server.next_async().type, AsyncEventType::kQueuePairRequestError);
    const auto error = asker.pair.client.next_async().error;
    ASSERT_TRUE(error);
    EXPECT_TRUE(error->remote);
    EXPECT_EQ(error->layer, kUnaligned.layer);
    EXPECT_EQ(error->type, kUnaligned.type);
    EXPECT_EQ(error->code, kUnaligned.code);
    EXPECT_EQ(target.octets, std::vector<std::byte>(64));
  }
}

// RDMAPX-5-05, RDMAPX-5.1.2-03: eight octets and no other; and the original comes back, swapped or not.
TEST(Atomics, WorkOnEightOctets) {
  Asker asker;
  Buffer target(asker.pair.server, 64);
  std::ranges::fill(target.octets, std::byte{0xFF});
  const auto sge = asker.local.sge(0, 8);
  const auto atomic = [&](SendOpcode opcode, std::uint64_t compare) {
    must(asker.pair.client.qp->post_send({.opcode = opcode,
                                          .flags = SendFlags::kSignaled,
                                          .segments = {&sge, 1},
                                          .remote_address = target.remote() + 8,
                                          .rkey = target.region.rkey(),
                                          .compare = compare,
                                          .swap_or_add = 1}),
         "post_send");
    EXPECT_EQ(asker.pair.client.next().status, WcStatus::kSuccess);
    std::uint64_t original{};
    std::memcpy(&original, asker.local.octets.data(), sizeof original);
    return original;
  };
  EXPECT_EQ(atomic(SendOpcode::kFetchAndAdd, 0), ~0ULL);    // the carry goes nowhere
  EXPECT_EQ(atomic(SendOpcode::kCompareAndSwap, 5), 0ULL);  // not swapped
  EXPECT_EQ(atomic(SendOpcode::kCompareAndSwap, 0), 0ULL);  // swapped
  EXPECT_EQ(atomic(SendOpcode::kFetchAndAdd, 0), 1ULL);     // it was
  for (std::size_t i = 0; i < target.octets.size(); ++i) {
    if (i < 8 || i >= 16) {
      EXPECT_EQ(target.octets[i], std::byte{0xFF}) << i;
    }
  }
}

// SEC-2.2.7-01: the last place of the full queue says that events are missing.
TEST(AsyncEvents, AreBoundedAndTheirLossIsTold) {
  const auto device = must(detail::DeviceState::create({}), "device");
  constexpr std::size_t kMany = detail::DeviceState::kMaxAsyncEvents + 10;
  for (std::size_t i = 0; i < kMany; ++i) device->raise({.type = AsyncEventType::kQueuePairFatal});
  ASSERT_EQ(fcntl(device->events->descriptor(), F_SETFL, O_NONBLOCK), 0);
  std::vector<AsyncEventType> told;
  while (const auto event = device->events->get()) told.push_back(event->type);
  ASSERT_EQ(told.size(), detail::DeviceState::kMaxAsyncEvents + 1);
  EXPECT_EQ(std::ranges::count(told, AsyncEventType::kEventsLost), 1);
  EXPECT_EQ(told.back(), AsyncEventType::kEventsLost);
}

}  // namespace
}  // namespace weft::verbs::test
