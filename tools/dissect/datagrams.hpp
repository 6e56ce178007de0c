// SPDX-License-Identifier: Apache-2.0
// The datagrams of weft's queue pairs (docs/decisions/0032-datagrams.md): a line each in the overview, and their
// fields. One is weft's if the numbers of queue pairs in its header name its own UDP ports, which a receiver demands as
// well. Other UDP is other traffic.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "conformance/udp_datagrams.hpp"
#include "tools/cli/colour.hpp"
#include "tools/dissect/wanted.hpp"

namespace weft::tools::dissect {

class Datagrams {
 public:
  static constexpr std::uint64_t kListed = 40;  // in the overview, unless all are

  struct Style {
    Palette palette{};
    bool overview{};
    bool all{};   // of the overview
    bool live{};  // the overview line by line; else it is one piece at the end
    bool fields{};
    bool json{};
    bool explain{};
  };
  using Print = std::function<void(const std::string&)>;

  Datagrams(const Style& style, Wanted& wanted, Print print)
      : style_(style), wanted_(wanted), print_(std::move(print)) {}

  // A packet of the capture, in order.
  void take(const conformance::Packet& packet);
  // The capture is over: how many were not listed.
  void finish();
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  void list(const conformance::Packet& packet, const conformance::UdpDatagram& datagram);

  Style style_;
  Wanted& wanted_;
  Print print_;
  conformance::UdpDatagrams udp_{};
  std::int64_t first_time_ = 0;  // of the capture
  bool any_packet_ = false;
  std::uint64_t count_ = 0;
  std::string listed_{};
};

}  // namespace weft::tools::dissect
