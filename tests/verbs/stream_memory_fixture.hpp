// SPDX-License-Identifier: Apache-2.0
// What the tests of StreamMemory share: one stream's view of 64 octets.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "verbs/memory/stream_memory.hpp"

namespace weft::verbs::detail {

class MemoryFixture : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kStream = 3;

  std::shared_ptr<StagTable> table = std::make_shared<StagTable>();
  std::shared_ptr<DeviceState> device = DeviceState::create({}).value();
  std::shared_ptr<ProtectionDomainState> domain = std::make_shared<ProtectionDomainState>(device);
  std::shared_ptr<ReceiveQueue> receives =
      std::make_shared<ReceiveQueue>(domain, ReceiveQueue::Shape{.max_wr = 4, .max_sge = 2});
  std::vector<std::shared_ptr<RegionState>> regions;  // live longer than the leases of `memory`
  StreamMemory memory{table};
  alignas(8) std::array<std::byte, 64> octets{};

  void SetUp() override { memory.attach({.domain = domain->number, .stream = kStream}, receives, {}); }

  std::shared_ptr<RegionState> region(Grant grant) {
    return regions.emplace_back(RegionState::create(table, domain, grant));
  }
  std::shared_ptr<RegionState> region(Access access, std::uint32_t only_stream = 0) {
    return region({.start = octets.data(), .length = octets.size(), .access = access, .only_stream = only_stream});
  }
  static std::vector<std::byte> some(std::size_t count, unsigned value) {
    return std::vector<std::byte>(count, static_cast<std::byte>(value));
  }
};

}  // namespace weft::verbs::detail
