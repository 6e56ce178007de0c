// SPDX-License-Identifier: Apache-2.0
// Hostile TCP streams of both directions at the auditor: it comes to an end, keeps within its bounds, and says the same
// however the octets are cut. The dissector takes the same apart, and so do those who have a key log.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "conformance/connection_audit.hpp"
#include "conformance/dissection.hpp"
#include "conformance/tls_layer.hpp"
#include "conformance/walk.hpp"
#include "tests/conformance/tls_trace.hpp"

using namespace weft;
using namespace weft::conformance;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// One octet of control: bit 0 the end, bits 1 and 2 what happens (octets, octets, gap, closing), bit 3 whether the packet
// acknowledges half of what the other end sent or all of it, bit 4 whether that is known; then the size in two octets,
// then the octets.
struct Step {
  End from{};
  unsigned kind{};
  Bytes octets{};
  std::size_t size{};
  bool half_acknowledged{}, acknowledged{};
};

std::vector<Step> steps_of(Bytes input) {
  std::vector<Step> steps;
  while (input.size() >= 3) {
    const auto control = std::to_integer<unsigned>(input[0]);
    const std::size_t size = Be<1, std::uint16_t>::get(input);
    input = input.subspan(3);
    Step step{(control & 1) != 0 ? End::kSecond : End::kFirst,
              control >> 1 & 3,
              {},
              size,
              (control & 8) != 0,
              (control & 16) == 0};
    if (step.kind < 2) {
      step.octets = input.first(std::min(size, input.size()));
      input = input.subspan(step.octets.size());
    }
    steps.push_back(step);
  }
  return steps;
}

// Hands everything to `listener` in pieces that are gone when it returns.
template <typename Listener>
void play(const std::vector<Step>& steps, bool handshake, std::size_t piece_size, Listener& listener) {
  listener.on(TcpOpened{1460, 1460, handshake});
  std::uint64_t next[2]{};
  std::uint64_t packet = 0;
  for (const Step& step : steps) {
    ++packet;
    std::uint64_t& offset = next[static_cast<std::size_t>(step.from)];
    if (step.kind == 2) {
      listener.on(TcpGap{step.from, offset, step.size + 1, packet});
      offset += step.size + 1;
      continue;
    }
    if (step.kind == 3) {
      listener.on(TcpClosed{step.from, (step.size & 1) != 0 ? Closing::kReset : Closing::kFin, packet});
      continue;
    }
    listener.on(TcpSegment{step.from, packet, offset, static_cast<std::uint32_t>(step.octets.size()), false});
    for (std::size_t at = 0; at < step.octets.size(); at += piece_size) {
      const Bytes part = step.octets.subspan(at, std::min(piece_size, step.octets.size() - at));
      const std::vector<std::byte> passing(part.begin(), part.end());
      const std::uint64_t heard =
          next[static_cast<std::size_t>(opposite(step.from))] / (step.half_acknowledged ? 2 : 1);
      listener.on(TcpOctets{step.from,
                            passing,
                            {packet, static_cast<std::uint32_t>(at)},
                            offset,
                            step.acknowledged ? std::optional(heard) : std::nullopt});
      offset += passing.size();
    }
  }
  listener.finish();
}

std::string audit(const std::vector<Step>& steps, bool handshake, std::size_t piece_size) {
  ConnectionAudit audit(0);
  play(steps, handshake, piece_size, audit);
  std::string text;
  for (const Finding& finding : audit.findings().all()) {
    require(std::ranges::count(all_rules(), finding.rule) == 1);
    require(finding.excerpt.mark + finding.excerpt.marked <= finding.excerpt.octets.size());
    text += std::string(finding.rule->clause) + " " + std::to_string(finding.place.packet) + " " +
            std::to_string(finding.stream_offset) + " " + finding.message + "\n";
  }
  return text;
}

// Takes apart whatever the walk shows. No field lies outside its frame or FPDU.
class Dissector {
 public:
  void on(const TcpEvent& event) {
    walk_.feed(event);
    drain();
  }
  void finish() {
    walk_.finish();
    drain();
  }

 private:
  void drain() {
    while (const auto seen = walk_.next()) {
      if (const auto* frame = std::get_if<StartupSeen>(&*seen)) check(dissect(*frame), frame->piece);
      if (const auto* fpdu = std::get_if<FpduSeen>(&*seen)) check(dissect(*fpdu), fpdu->piece);
    }
  }
  static void check(const std::vector<Field>& fields, const Piece& piece) {
    for (const Field& field : fields) {
      require(field.at <= piece.octets.size() && field.size <= piece.octets.size() - field.at);
    }
  }

  Walk walk_{};
};

// What TLS hides, where the connection is that of RFC 8448's trace; others pass through.
class Clear {
 public:
  void on(const TcpEvent& event) {
    layer_.feed(event);
    drain();
  }
  void finish() {
    layer_.finish();
    drain();
  }
  [[nodiscard]] std::string text() const {
    return said_[0] + '|' + said_[1] + '|' + (layer_.tls() == nullptr ? "" : layer_.tls()->hidden);
  }

 private:
  void drain() {
    while (const TcpEvent* event = layer_.next()) {
      if (const auto* gap = std::get_if<TcpGap>(event))
        said_[index(gap->from)] += "gap at " + std::to_string(gap->stream_offset);
      if (const auto* closed = std::get_if<TcpClosed>(event)) said_[index(closed->from)] += "end";
      const auto* const octets = std::get_if<TcpOctets>(event);
      if (octets == nullptr) continue;
      for (const std::byte octet : octets->octets) said_[index(octets->from)] += static_cast<char>(octet);
    }
  }
  static std::size_t index(End end) noexcept { return static_cast<std::size_t>(end); }

  KeyLog keys_ = KeyLog::of_text(test::rfc8448::kKeyLog);
  TlsLayer layer_{&keys_};
  std::array<std::string, 2> said_{};
};

std::string in_clear(const std::vector<Step>& steps, bool handshake, std::size_t piece_size) {
  Clear clear;
  play(steps, handshake, piece_size, clear);
  return clear.text();
}

}  // namespace

// Octet 0: bit 0 whether the handshake was seen, the rest the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto steps = steps_of(std::as_bytes(std::span(data + 1, size - 1)));
  const bool handshake = (data[0] & 1) != 0;
  const std::string whole = audit(steps, handshake, 1U << 16);
  require(whole == audit(steps, handshake, 1U + (data[0] >> 1)));
  require(whole == audit(steps, handshake, 1));
  const std::string clear = in_clear(steps, handshake, 1U << 16);
  require(clear == in_clear(steps, handshake, 1U + (data[0] >> 1)));
  require(clear == in_clear(steps, handshake, 1));
  Dissector dissector;
  play(steps, handshake, 1U << 16, dissector);
  return 0;
}
