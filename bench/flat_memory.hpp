// SPDX-License-Identifier: Apache-2.0
// Registered memory at little cost: one region under one STag, and a receive whenever one is wanted. What is measured
// around it is then the engine's.
#pragma once

#include "rdmap/region_table.hpp"

namespace weft::bench {

class FlatMemory final : public rdmap::RegionTable {
 public:
  static constexpr std::uint32_t kStag = 7;  // and lkey; offsets and addresses count from the region's first octet

  explicit FlatMemory(std::size_t size) : region_(add(kStag, size)) {}

  std::optional<ddp::ReceiveBuffer> take_receive() override { return ddp::ReceiveBuffer{1, region_.octets.size()}; }
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer&, std::uint64_t offset,
                                                      Bytes payload) override {
    put({&region_, offset}, payload);  // DDP has checked that it fits the receive
    return {};
  }
  std::expected<void, ddp::AccessError> invalidate(ddp::Stag) override { return {}; }  // it stays for the next round

 private:
  Region& region_;
};

}  // namespace weft::bench
