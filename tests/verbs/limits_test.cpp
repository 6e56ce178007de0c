// SPDX-License-Identifier: Apache-2.0
// What a device says it holds at most, it holds at most.
#include <atomic>
#include <thread>

#include "loopback.hpp"
#include "verbs/detail/device_state.hpp"

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
