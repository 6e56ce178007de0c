// SPDX-License-Identifier: Apache-2.0
// An exchange as people read it: frames with their fields, what breaks a rule in them, and how the connection ended.
// Octets that make no frame, because the prober or the peer broke them, are there as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/dissection.hpp"
#include "probe/exchange.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

struct Span {
  std::size_t at{};
  std::size_t size{};
};

// A rule of the auditor that an exchange breaks: the prober on purpose, or the peer.
struct Breach {
  bool by_peer{};
  std::string clause{};
  std::string message{};
};

// A startup frame, an FPDU, octets that are neither, a FIN or a reset.
struct ViewItem {
  bool from_peer{};
  std::size_t part{};               // in Exchange::parts, where it was complete
  Duration at{};                    // of that part
  std::uint64_t offset{};           // of its first octet in its sender's stream
  std::size_t size{};               // octets on the wire; 0: a FIN or a reset
  std::string what{};               // "MPA Request", "FPDU 2: RDMA Write", "FIN"
  std::vector<std::byte> octets{};  // the first ones, up to the limit
  std::vector<conformance::Field> fields{};
  std::vector<Span> marks{};  // octets that break a rule
  std::vector<Breach> breaches{};
};

struct ExchangeView {
  std::vector<ViewItem> items{};
  std::size_t left_out{};          // items beyond the limit
  std::vector<Breach> breaches{};  // those that no item holds
};

struct ViewLimits {
  std::size_t items = 64;
  std::size_t octets_of_item = 512;
  std::size_t octets = 8192;  // of all items
};

[[nodiscard]] ExchangeView view_of(const Exchange& exchange, const ViewLimits& limits = {});

// "> MPA Request (20), < MPA Reply (24), > RDMA Write (284), < FIN": > is the prober, < the peer.
[[nodiscard]] std::string short_text(const ExchangeView& view, std::size_t most);

}  // namespace weft::tools::probing
