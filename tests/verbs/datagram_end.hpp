// SPDX-License-Identifier: Apache-2.0
// Queue pairs for datagrams on loopback addresses, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tests/verbs/loopback.hpp"
#include "verbs/datagram.hpp"

namespace weft::verbs::test {

inline constexpr std::uint32_t kQkey = 0x11111111;
inline constexpr std::size_t kHeader = DatagramQueuePair::kHeaderSize;

inline std::vector<std::byte> octets_of(std::string_view text) {
  const auto octets = std::as_bytes(std::span(text));
  return {octets.begin(), octets.end()};
}

// An end whose queue pair for datagrams is ready to send; the connected one of End is not used.
struct DatagramEnd : End {
  explicit DatagramEnd(const EndOptions& options = {}, const char* address = "127.0.0.1", QpState to = QpState::kRts)
      : End(options), buffer(*this, 16384) {
    QueuePairAttributes attributes = options.queue_pair;
    attributes.send_cq = &cq;
    attributes.receive_cq = &receive_cq;
    if (srq) attributes.srq = &*srq;
    own =
        must(domain.create_datagram_queue_pair(attributes, {.address = *Address::parse(address), .port = 0}), "create");
    local = *Address::parse(address);
    own->set_qkey(kQkey);
    for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      if (state <= to) must(own->modify(state), "modify");
    }
  }
  [[nodiscard]] DatagramAddress name(std::uint32_t qkey = kQkey) const {
    return {.address = local, .number = own->number(), .qkey = qkey};
  }
  void receive(std::uint64_t id, std::size_t offset = 0, std::uint32_t length = kHeader + 64) {
    const std::array list{buffer.sge(offset, length)};
    const ReceiveRequest request{.wr_id = id, .segments = list};
    ASSERT_TRUE(own->post_receive({&request, 1}));
  }
  PostResult send(const DatagramAddress& to, std::string_view text, SendFlags flags = SendFlags::kSignaled,
                  SendOpcode opcode = SendOpcode::kSend) {
    const auto octets = octets_of(text);
    std::ranges::copy(octets, buffer.octets.begin() + 4096);
    const std::array list{buffer.sge(4096, static_cast<std::uint32_t>(text.size()))};
    DatagramRequest request{.send = {.wr_id = 9, .opcode = opcode, .flags = flags, .segments = list}, .to = to};
    request.send.immediate = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    return own->post_send({&request, 1});
  }
  [[nodiscard]] std::string_view text(std::size_t offset, std::size_t size) const {
    return {reinterpret_cast<const char*>(buffer.octets.data() + offset + kHeader), size};
  }
  void expect_nothing() { EXPECT_FALSE(next_within(receive_cq, 20ms)); }

  Address local;
  Buffer buffer;
  std::optional<DatagramQueuePair> own{};
};

}  // namespace weft::verbs::test
