// SPDX-License-Identifier: Apache-2.0
// weft's end of a connection with siw_peer, over the verbs API, with blocking calls. The mirror of guest/siw_peer.c:
// the same private data, the same two halves of a buffer. Everything throws std::runtime_error when a verbs call fails.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "verbs/verbs.hpp"

namespace weft::interop {

inline constexpr std::size_t kHalf = std::size_t{4} << 20;
inline constexpr std::size_t kReadSink = kHalf + (std::size_t{2} << 20);  // ours; the guest writes in front of it

// What the first halves hold, ours and the guest's.
std::byte our_pattern(std::size_t i);
std::byte guest_pattern(std::size_t i);
// FNV-1a of 64 bits, as siw_peer prints it.
std::string checksum(std::span<const std::byte> octets);
std::vector<std::byte> octets_of(std::string_view text);

// A buffer of one end, as the private data names it: address 8, STag 4, length 4, network order, then a text.
struct Advert {
  std::uint64_t address{};
  std::uint32_t stag{};
  std::uint32_t length{};
  std::string text{};
};

struct EndSetup {
  verbs::Policy policy{};
  std::string text{};
  std::optional<std::uint32_t> ird{};
  std::optional<std::uint32_t> ord{};
  std::uint32_t receives = 16;
  std::uint32_t receive_length = 300000;
};

struct Message {
  verbs::WorkCompletion completion{};
  std::vector<std::byte> octets{};
};

// siw took a good CRC for a bad one: it reads PAD and CRC wrongly when they arrive in two TCP segments (README.md).
// It says so in a Terminate, or resets the connection without one: what its kernel logged tells whether that was why.
struct SiwMisreadCrc : std::runtime_error {
  SiwMisreadCrc() : std::runtime_error("siw ended the stream because of a CRC that was split over two segments") {}
};

// A long Write of siw's carried the octets of one FPDU twice, and those of the next ones one FPDU late (README.md).
struct SiwRepeatedAnFpdu : std::runtime_error {
  SiwRepeatedAnFpdu()
      : std::runtime_error("siw sent wrong octets of its memory: qemu's record of its packets has them") {}
};

// siw sent an FPDU whose CRC is wrong (README.md). After the last test qemu's record of the packets has to have as many of them.
struct SiwSentBadCrc : std::runtime_error {
  SiwSentBadCrc() : std::runtime_error("siw sent an FPDU with a wrong CRC") { ++count; }
  static inline std::size_t count = 0;
};

class WeftEnd {
 public:
  // To siw_peer in the guest, through qemu's forwarded port. Returns when the connection is established.
  static WeftEnd connect(std::uint16_t port, const EndSetup& setup);
  // Answers a request of a WeftServer.
  static WeftEnd accept(verbs::EventChannel channel, verbs::ConnectionEvent request, const EndSetup& setup);

  [[nodiscard]] const Advert& guest() const noexcept { return guest_; }
  [[nodiscard]] std::uint32_t stag() const { return region_->rkey(); }
  [[nodiscard]] std::span<std::byte> memory() noexcept { return memory_; }
  [[nodiscard]] verbs::QueuePairQuery query() const { return queue_pair_->query(); }
  [[nodiscard]] verbs::Negotiated negotiated() const;

  // Each posts one request on the first `length` octets of our buffer and waits for its completion.
  verbs::WorkCompletion send(std::uint32_t length, bool solicited = false,
                             std::optional<std::uint32_t> invalidate = {});
  verbs::WorkCompletion write(std::uint32_t length, std::uint64_t offset);
  verbs::WorkCompletion write_to(std::uint32_t stag, std::uint64_t address, std::uint32_t length);
  verbs::WorkCompletion read(std::uint32_t length, std::uint64_t offset);  // to kReadSink
  verbs::WorkCompletion read_from(std::uint32_t stag, std::uint64_t address, std::uint32_t length);

  // The next receive that completed; an error status is returned, not thrown.
  Message receive();
  // Waits for the end of the connection and says why.
  std::optional<verbs::StreamError> wait_disconnected();
  void disconnect();

 private:
  WeftEnd(verbs::EventChannel channel, verbs::ConnectionId id, const EndSetup& setup);
  verbs::ConnectionEvent expect(verbs::ConnectionEventType type);
  std::vector<std::byte> private_data() const;
  void post_receive(std::uint64_t index);
  verbs::WorkCompletion perform(verbs::SendRequest request, const verbs::Sge& segment);
  verbs::WorkCompletion next(std::deque<verbs::WorkCompletion>& queue);

  EndSetup setup_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> receive_memory_;
  verbs::EventChannel channel_;
  verbs::ConnectionId id_;
  std::optional<verbs::Device> device_{};
  std::optional<verbs::ProtectionDomain> domain_{};
  std::optional<verbs::CompletionQueue> completions_{};
  std::optional<verbs::QueuePair> queue_pair_{};
  std::optional<verbs::MemoryRegion> region_{};
  std::optional<verbs::MemoryRegion> receive_region_{};
  std::deque<verbs::WorkCompletion> sent_{};
  std::deque<verbs::WorkCompletion> received_{};
  Advert guest_{};
};

// Listens on 127.0.0.1, which is 10.0.2.2 for the guest.
class WeftServer {
 public:
  explicit WeftServer(const verbs::Policy& policy = {});
  [[nodiscard]] std::uint16_t port() const { return id_.local_address().port; }
  verbs::ConnectionEvent next_request();
  WeftEnd accept(const EndSetup& setup);

 private:
  verbs::EventChannel channel_;
  verbs::ConnectionId id_;
};

}  // namespace weft::interop
