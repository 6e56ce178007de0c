// SPDX-License-Identifier: Apache-2.0
// The plan: each rule is broken (or kept) at varied places, with boundary values, by each kind of message, in one or
// several DDP segments, and cut into TCP segments in several ways. A rule is a row of data; its combinations are
// generated.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/case.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::probe::plan {

// Where in the prober's stream the message stands.
enum class Place : std::uint8_t {
  kFirst,             // its first FPDU
  kSecond,            // after an empty Write, or the peer's ready-to-receive message
  kMiddle,            // after 5 messages of its kind
  kAfter32Messages,   // after 33 messages of its kind
  kAfter20000Octets,  // after more than 20,000 octets
};

enum class Message : std::uint8_t {
  kWrite,
  kReadRequest,
  kReadResponse,  // to a Read Request of the peer's
  kSend,
  kSendInvalidate,
  kSendSolicited,
  kSendSolicitedInvalidate,
  kTerminate,
  kImmediate,
  kImmediateSolicited,
  kFetchAdd,
  kCmpSwap,
  kAtomicResponse,  // to an Atomic Request of the peer's
};

// Which of the message's DDP segments has the fault. In several segments, there are three.
enum class Segment : std::uint8_t { kOnly, kFirstOf3, kSecondOf3, kThirdOf3 };

enum class Delivery : std::uint8_t {
  kApart,     // each FPDU in a TCP segment of its own
  kGlued,     // the FPDU before, the message and what follows in one TCP segment
  kDribbled,  // the message octet by octet
  kHalted,    // a startup frame, with a silence within its key and one after its fixed part
};

// A boundary value, whose meaning the rule defines.
struct Value {
  std::string_view label{};  // a part of the combination's name
  std::uint64_t number{};
};

struct Combination {
  Place place = Place::kSecond;
  Message message{};
  Value value{};
  Segment segment{};
  Delivery delivery{};
};

// The values of each axis. An empty axis has the value of a default Combination, which the name leaves out; so has one
// of a single value.
struct Axes {
  std::vector<Place> places{};
  std::vector<Message> messages{};
  std::vector<Value> values{};
  std::vector<Segment> segments{};
  std::vector<Delivery> deliveries{};
};

struct Rule {
  std::string_view name{};    // the names of its combinations begin with it: "crc"
  std::string_view clause{};  // as in Case
  std::string_view what{};    // as in Case; a sentence without its period
  std::uint32_t needs{};      // of every combination
  Axes axes{};
  void (*run)(Scene&, const Combination&){};
  std::vector<std::string_view> also{};
  bool (*allowed)(const Combination&){};              // null: every one
  std::uint32_t (*needs_more)(const Combination&){};  // null: no more than `needs`
  bool (*last)(const Combination&){};                 // as in Case; null: none is
};

[[nodiscard]] constexpr bool is_send(Message message) noexcept {
  return message >= Message::kSend && message <= Message::kSendSolicitedInvalidate;
}
[[nodiscard]] constexpr bool is_invalidate(Message message) noexcept {
  return message == Message::kSendInvalidate || message == Message::kSendSolicitedInvalidate;
}
[[nodiscard]] constexpr bool is_immediate(Message message) noexcept {
  return message == Message::kImmediate || message == Message::kImmediateSolicited;
}
[[nodiscard]] constexpr bool is_atomic(Message message) noexcept {
  return message == Message::kFetchAdd || message == Message::kCmpSwap;
}
[[nodiscard]] constexpr bool is_tagged(Message message) noexcept {
  return message == Message::kWrite || message == Message::kReadResponse;
}
// Returns whether RDMAP has it in several DDP segments.
[[nodiscard]] constexpr bool is_segmented(Message message) noexcept { return is_send(message) || is_tagged(message); }
[[nodiscard]] rdmap::Opcode opcode_of(Message message) noexcept;

// The rules, in the order of the RFCs. Static storage.
[[nodiscard]] std::span<const Rule> all_rules();
[[nodiscard]] std::span<const Rule> mpa_rules();
[[nodiscard]] std::span<const Rule> startup_rules();
[[nodiscard]] std::span<const Rule> header_rules();
[[nodiscard]] std::span<const Rule> bounds_rules();
[[nodiscard]] std::span<const Rule> memory_rules();
[[nodiscard]] std::span<const Rule> stream_rules();
[[nodiscard]] std::span<const Rule> good_rules();
[[nodiscard]] std::span<const Rule> depth_rules();

}  // namespace weft::probe::plan
