// SPDX-License-Identifier: Apache-2.0
// The memory of one end of the tour: regions, and receives that were posted.
#pragma once

#include <deque>
#include <map>
#include <string_view>
#include <vector>

#include "rdmap/memory.hpp"

namespace weft::explain {

/// What a region of the tour grants to the peer.
struct TourRights {
  bool write{};   ///< RDMA Writes
  bool read{};    ///< RDMA Reads
  bool atomic{};  ///< atomic operations
};

/// Owns what the peer's messages name.
class TourMemory final : public rdmap::Memory {
 public:
  /// Registers memory of this size, filled with `text` again and again; without a text with zeros.
  void add(std::uint32_t stag, std::uint64_t begin, std::size_t octets, TourRights rights, std::string_view text = {});
  /// Posts a receive.
  void post_receive(std::uint64_t octets);

  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override;
  std::optional<ddp::ReceiveBuffer> take_receive() override;
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override;
  std::expected<void, ddp::AccessError> check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                   std::uint32_t length) override;
  std::expected<void, ddp::AccessError> read_tagged(ddp::Stag stag, ddp::TaggedOffset offset,
                                                    MutableBytes out) override;
  std::expected<std::uint64_t, ddp::AccessError> atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                        const rdmap::AtomicOperation& operation) override;
  std::expected<void, ddp::AccessError> invalidate(ddp::Stag stag) override;
  std::expected<void, ddp::LocalFault> gather(rdmap::LocalSegments source, std::uint64_t offset,
                                              MutableBytes out) override;
  std::expected<void, ddp::LocalFault> scatter(rdmap::LocalSegments sink, std::uint64_t offset, Bytes payload) override;
  std::expected<void, ddp::LocalFault> perform_local(std::uint64_t cookie) override;

 private:
  struct Owned {
    std::uint64_t begin{};
    std::vector<std::byte> octets{};
    TourRights rights{};
    bool valid = true;
  };

  std::expected<MutableBytes, ddp::AccessError> access(ddp::Stag stag, ddp::TaggedOffset offset, std::size_t length,
                                                       bool TourRights::* right);
  std::expected<MutableBytes, ddp::LocalFault> local(rdmap::LocalSegments list, std::uint64_t offset,
                                                     std::size_t length);

  std::map<std::uint32_t, Owned> regions_{};
  std::deque<ddp::ReceiveBuffer> receives_{};
  std::vector<std::vector<std::byte>> inbox_{};  // by cookie
};

}  // namespace weft::explain
