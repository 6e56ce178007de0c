// SPDX-License-Identifier: Apache-2.0
// A client of `weft probe-peer` that keeps to the protocols: it wishes, reads what is offered, and gives orders.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "probe/peer_protocol.hpp"
#include "tools/link/link.hpp"

namespace weft::test {

using probe::Order;
using probe::Region;
using probe::Wish;

// A `weft probe-peer -s` that listens.
class ListeningPeer {
 public:
  explicit ListeningPeer(const std::string& address = "127.0.0.1", const std::vector<std::string>& more = {})
      : command_(arguments(address, more)) {
    EXPECT_TRUE(command_.wait_for_output("\n")) << command_.err();
    const std::string line = command_.out(), begins = "listening on ";
    EXPECT_TRUE(line.starts_with(begins)) << line;
    at_ = line.substr(begins.size(), line.find('\n') - begins.size());
  }
  [[nodiscard]] verbs::Endpoint at() const { return *verbs::Endpoint::parse(at_); }
  Command& command() { return command_; }

 private:
  static std::vector<std::string> arguments(const std::string& address, const std::vector<std::string>& more) {
    std::vector<std::string> all{"probe-peer", "-s", "-a", address, "-p", "0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Command command_;
  std::string at_{};
};

class PeerCaller {
 public:
  static constexpr std::size_t kReceives = 48, kReceiveSize = 1024, kData = 8192;

  // Connects. Octets that are no wish may stand in its place.
  PeerCaller(const verbs::Endpoint& peer, const Wish& wish) : PeerCaller(peer, probe::serialize(wish)) {}
  PeerCaller(const verbs::Endpoint& peer, const std::vector<std::byte>& said)
      : PeerCaller(*tools::Link::towards(peer, {}, {}, depths())) {
    const auto answer = link.connect({.private_data = said});
    if (!answer) {
      refusal = answer.error().sentence;
      return;
    }
    const auto told = probe::parse_advert(*answer);
    EXPECT_TRUE(told) << answer->size() << " octets";
    advert = told.value_or(probe::Advert{});
  }
  // The end that a peer has called.
  PeerCaller(verbs::ConnectionEvent request, const Wish& next)
      : PeerCaller(*tools::Link::for_request(std::move(*request.request), depths())) {
    advert = probe::parse_advert(request.private_data).value_or(probe::Advert{});
    const auto accepted = link.accept({.private_data = probe::serialize(next)});
    EXPECT_TRUE(accepted) << accepted.error().sentence;
  }

  [[nodiscard]] const Region& region(std::uint8_t kind, std::uint8_t rights) const {
    const auto one = std::ranges::find_if(
        advert.regions, [&](const Region& r) { return r.kind == kind && (r.rights & rights) == rights; });
    if (one == advert.regions.end()) throw std::runtime_error("no region of kind " + std::to_string(kind));
    return *one;
  }
  [[nodiscard]] const Region& plain(std::uint8_t rights) const {
    const auto one = std::ranges::find_if(
        advert.regions, [&](const Region& r) { return r.kind == Region::kPlain && r.rights == rights; });
    if (one == advert.regions.end()) throw std::runtime_error("no plain region of rights " + std::to_string(rights));
    return *one;
  }

  verbs::WorkCompletion next() {
    const auto done = link.completions().next();
    if (!done) throw std::runtime_error(done.error().sentence);
    return *done;
  }
  // The next Send of the peer's, or the failure of what waits for it.
  Bytes receive() {
    do last = next();
    while (last.status == verbs::WcStatus::kSuccess && last.opcode != verbs::WcOpcode::kReceive &&
           last.opcode != verbs::WcOpcode::kReceiveImmediate);
    if (last.status != verbs::WcStatus::kSuccess) return {};
    return Bytes(memory).subspan(last.wr_id * kReceiveSize, last.byte_len);
  }
  void send(Bytes octets) {
    const verbs::Sge what{reinterpret_cast<std::uintptr_t>(octets.data()), static_cast<std::uint32_t>(octets.size()),
                          0};
    EXPECT_TRUE(link.post_send(
        {.opcode = verbs::SendOpcode::kSend, .flags = verbs::SendFlags::kInline, .segments = {&what, 1}}));
  }
  void order(const Order& order) { send(probe::serialize(order)); }
  probe::PeerReport answer_to(const Order& given) {
    order(given);
    return answer();
  }
  // The report that comes next.
  probe::PeerReport answer() {
    const auto report = probe::parse_report(receive());
    EXPECT_TRUE(report) << to_string(last.status) << ", " << last.byte_len << " octets";
    return report.value_or(probe::PeerReport{});
  }
  probe::PeerReport report() { return answer_to({.operation = Order::kReport}); }

  // What an RDMA Read or Write of `size` octets ends with. The octets are at `data()`.
  verbs::WcStatus access(verbs::SendOpcode opcode, const Region& what, std::uint32_t size) {
    const verbs::Sge mine = own->sge(kFirst, size);
    verbs::SendRequest request{.opcode = opcode, .flags = verbs::SendFlags::kSignaled, .segments = {&mine, 1}};
    request.remote_address = what.offset.value;
    request.rkey = what.stag.value;
    EXPECT_TRUE(link.post_send(request));
    last = next();
    return last.status;
  }
  verbs::WcStatus read(const Region& what, std::uint32_t size) {
    return access(verbs::SendOpcode::kRdmaRead, what, size);
  }
  // Does an RDMA Read bring what the region holds at first?
  bool reads_first_content(const Region& what) {
    const auto size = std::min<std::uint32_t>(what.length, kData);
    if (read(what, size) != verbs::WcStatus::kSuccess) return false;
    for (std::size_t i = 0; i < size; ++i) {
      if (data()[i] != probe::first_content(what, i)) return false;
    }
    return true;
  }
  std::span<std::byte> data() { return std::span(memory).subspan(kFirst, kData); }
  // Where the peer is to read or write.
  [[nodiscard]] Order aimed(Order::Operation operation, std::uint32_t length) const {
    return {.operation = operation,
            .flags = Order::kAnswer,
            .length = length,
            .stag = {own->rkey()},
            .offset = {own->iova() + kFirst}};
  }

  std::vector<std::byte> memory = std::vector<std::byte>(kFirst + kData);
  tools::Link link;
  std::optional<verbs::MemoryRegion> own{};
  probe::Advert advert{};
  std::string refusal{};
  verbs::WorkCompletion last{};

 private:
  static constexpr std::size_t kFirst = kReceives * kReceiveSize;
  static tools::LinkAttributes depths() { return {.send_depth = 64, .receive_depth = kReceives}; }

  explicit PeerCaller(tools::Link made) : link(std::move(made)) {
    using verbs::Access;
    own = *link.register_memory(
        memory, Access::kLocalWrite | Access::kRemoteRead | Access::kRemoteWrite | Access::kRemoteAtomic);
    for (std::size_t i = 0; i < kReceives; ++i)
      EXPECT_TRUE(link.post_receive(own->sge(i * kReceiveSize, kReceiveSize), i));
  }
};

}  // namespace weft::test
