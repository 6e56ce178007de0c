// SPDX-License-Identifier: Apache-2.0
// What a device says it holds at most, it holds at most.
#include <atomic>
#include <thread>

#include "loopback.hpp"
#include "verbs/base/device_state.hpp"

namespace weft::verbs::test {
namespace {

// Makes `make` twice, is refused a third, and is given one again as soon as one is gone.
template <typename Make>
void expect_two(const char* limit, Make make) {
  auto first = must(make(), limit);
  std::optional second{must(make(), limit)};
  const auto third = make();
  ASSERT_FALSE(third) << limit;
  EXPECT_EQ(third.error().code, Errc::kNoResources);
  EXPECT_EQ(third.error().argument, limit);
  EXPECT_EQ(third.error().to_errno(), ENOMEM);
  second.reset();
  second.emplace(must(make(), limit));
}

TEST(Limits, EachCountIsKept) {
  constexpr std::uint32_t kTwo = 2;
  auto device =
      must(detail::open_device(
               must(Device::open("lo"), "open").info(),
               {.max_pd = kTwo, .max_mr = kTwo, .max_mw = kTwo, .max_cq = kTwo, .max_qp = kTwo, .max_srq = kTwo}),
           "open_device");
  expect_two("max_pd", [&] { return device.allocate_protection_domain(); });
  expect_two("max_cq", [&] { return device.create_completion_queue(); });
  auto domain = must(device.allocate_protection_domain(), "domain");
  auto cq = must(device.create_completion_queue(), "cq");
  std::vector<std::byte> octets(8);
  expect_two("max_mr", [&] { return domain.register_memory(octets.data(), octets.size(), kAllAccess); });
  expect_two("max_mw", [&] { return domain.allocate_window(); });
  expect_two("max_srq", [&] { return domain.create_shared_receive_queue(); });
  expect_two("max_qp", [&] { return domain.create_queue_pair({.send_cq = &cq, .receive_cq = &cq}); });
}

// What is refused for another reason takes no place, nor does deregistered memory whose handle is still there.
TEST(Limits, OnlyWhatExistsCounts) {
  auto device =
      must(detail::open_device(must(Device::open("lo"), "open").info(), {.max_mr = 1, .max_qp = 1}), "open_device");
  auto domain = must(device.allocate_protection_domain(), "domain");
  auto cq = must(device.create_completion_queue(), "cq");
  EXPECT_EQ(domain.create_queue_pair({.send_cq = &cq}).error().argument, "receive_cq");
  const auto pair = must(domain.create_queue_pair({.send_cq = &cq, .receive_cq = &cq}), "queue pair");
  std::vector<std::byte> octets(8);
  auto region = must(domain.register_memory(octets.data(), 8, kAllAccess), "register");
  EXPECT_EQ(domain.register_memory(octets.data(), 8, kAllAccess).error().argument, "max_mr");
  must(region.deregister(), "deregister");
  const auto next = must(domain.register_memory(octets.data(), 8, kAllAccess), "register");
}

struct ExposedMemoryLimit {
  explicit ExposedMemoryLimit(std::uint64_t octets) { set_exposed_memory_limit(octets); }
  ~ExposedMemoryLimit() { set_exposed_memory_limit(0); }
  ExposedMemoryLimit(const ExposedMemoryLimit&) = delete;
  ExposedMemoryLimit& operator=(const ExposedMemoryLimit&) = delete;
};

// RFC 5042 section 6.4.1: memory is scarce, and what peers can reach is bounded for the process.
TEST(Limits, MemoryThatPeersCanReach) {
  const ExposedMemoryLimit limit(100);
  auto device = must(Device::open("lo"), "open");
  auto domain = must(device.allocate_protection_domain(), "domain");
  std::vector<std::byte> octets(200);
  const auto take = [&](std::size_t length, Access access) {
    return domain.register_memory(octets.data(), length, access);
  };
  std::vector<MemoryRegion> regions;
  for (const Access access : {Access::kRemoteRead, Access::kLocalWrite | Access::kRemoteWrite,
                              Access::kLocalWrite | Access::kRemoteAtomic, Access::kWindowBind}) {
    regions.push_back(must(take(25, access), "register"));
    EXPECT_EQ(exposed_memory(), 25 * regions.size());
  }
  const auto refused = take(1, Access::kRemoteRead);
  EXPECT_EQ(refused.error().code, Errc::kNoResources);
  EXPECT_EQ(refused.error().argument, "length");
  EXPECT_EQ(refused.error().to_errno(), ENOMEM);
  const auto local = must(take(200, Access::kLocalWrite), "what no peer reaches");
  const auto empty = must(take(0, kAllAccess), "of no octet");
  must(regions.front().deregister(), "deregister");
  EXPECT_EQ(exposed_memory(), 75U) << "its handle is still there";
  EXPECT_FALSE(take(26, Access::kRemoteRead));
  const auto next = must(take(25, Access::kRemoteRead), "register");
  set_exposed_memory_limit(50);
  EXPECT_EQ(exposed_memory(), 100U) << "what is there stays";
  EXPECT_FALSE(take(1, Access::kRemoteRead));
  set_exposed_memory_limit(0);
  EXPECT_TRUE(take(200, Access::kRemoteRead));
}

TEST(Limits, ARegionThatIsMovedToItselfStays) {
  auto device = must(detail::open_device(must(Device::open("lo"), "open").info(), {.max_mr = 1}), "open_device");
  auto domain = must(device.allocate_protection_domain(), "domain");
  std::vector<std::byte> octets(8);
  auto region = must(domain.register_memory(octets.data(), 8, kAllAccess), "register");
  auto& same = region;
  region = std::move(same);
  EXPECT_EQ(domain.register_memory(octets.data(), 8, kAllAccess).error().argument, "max_mr");
  must(region.deregister(), "deregister");
}

// The handle's old region goes, and the new one lives on in it.
TEST(Limits, ARegionThatIsMovedOverAnotherTakesItsPlace) {
  auto device = must(detail::open_device(must(Device::open("lo"), "open").info(), {.max_mr = 2}), "open_device");
  auto domain = must(device.allocate_protection_domain(), "domain");
  std::vector<std::byte> octets(8);
  const auto take = [&](std::size_t length) { return domain.register_memory(octets.data(), length, kAllAccess); };
  auto region = must(take(8), "register"), other = must(take(4), "register");
  const std::uint32_t key = other.rkey();
  region = std::move(other);
  EXPECT_EQ(region.rkey(), key);
  EXPECT_EQ(region.length(), 4U);
  const auto next = must(take(8), "register");
  EXPECT_EQ(take(8).error().argument, "max_mr");
}

// What programs read of a device, and size their tables by.
TEST(Limits, AsTheyAreTold) {
  const auto& limits = Device::limits();
  EXPECT_EQ(limits.max_mr, 1U << 20);
  EXPECT_EQ(limits.max_mw, 1U << 20);
}

TEST(Limits, APlaceThatIsHandedOnIsStillTaken) {
  const auto quota = std::make_shared<detail::Quota>("places", 1);
  detail::Quota::Share kept;
  {
    auto taken = detail::Quota::take(quota);
    ASSERT_TRUE(taken);
    kept = std::move(*taken);
  }
  EXPECT_FALSE(detail::Quota::take(quota));
  kept = {};
  EXPECT_TRUE(detail::Quota::take(quota));
}

TEST(Limits, ThreadsTogetherTakeNoMoreThanThereIs) {
  constexpr std::uint32_t kPlaces = 100;
  const auto quota = std::make_shared<detail::Quota>("places", kPlaces);
  std::atomic<int> given{0};
  std::vector<detail::Quota::Share> shares[2];
  const auto take = [&](std::vector<detail::Quota::Share>& mine) {
    for (std::uint32_t i = 0; i < kPlaces; ++i) {
      auto share = detail::Quota::take(quota);
      if (share) mine.push_back(std::move(*share)), ++given;
    }
  };
  {
    std::jthread other([&] { take(shares[1]); });
    take(shares[0]);
  }
  EXPECT_EQ(given, static_cast<int>(kPlaces));
  shares[0].clear();
  shares[1].clear();
  for (std::uint32_t i = 0; i < kPlaces; ++i) EXPECT_TRUE(detail::Quota::take(quota));
}

}  // namespace
}  // namespace weft::verbs::test
