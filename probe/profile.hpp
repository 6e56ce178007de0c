// SPDX-License-Identifier: Apache-2.0
// The ULP of a user, as a text file describes it: how it opens a connection, and what the prober can reach then.
// docs/probe-profiles.md specifies the format.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/peer_protocol.hpp"

namespace weft::probe {

// Octets, some of which are filled in when they are sent.
struct Template {
  enum Field : std::uint8_t { kStag, kOffset, kSize };  // of the prober's memory that the peer is to read
  struct Hole {
    Field field{};
    std::size_t at{};     // in `octets`
    std::size_t width{};  // 1 to 8
  };
  std::vector<std::byte> octets{};
  std::vector<Hole> holes{};

  [[nodiscard]] std::vector<std::byte> filled(ddp::Stag stag, ddp::TaggedOffset offset, std::uint32_t size) const;
};

// A number in what the peer sends, or a constant. Big-endian.
struct Place {
  bool constant{};
  std::uint64_t value{};  // the number itself, or where it stands
  std::size_t width{};    // octets, 1 to 8
};

// One step after the startup.
struct ProfileStep {
  enum Kind : std::uint8_t {
    kSend,         // the prober sends `octets`
    kExpectSend,   // a Send of the peer's, of at least `size` octets
    kExpectRead,   // a Read Request, answered with `octets` and zeros after
    kExpectWrite,  // an RDMA Write
  };
  Kind kind{};
  std::vector<std::byte> octets{};
  std::size_t size{};
};

// A region of the peer, and where the peer advertises it.
struct ProfileRegion {
  std::size_t source{};  // 0: the private data; n: the n-th Send that the steps expect
  Place stag{}, offset{}, length{};
  std::uint8_t rights{};  // of Region::Right
};

struct Profile {
  std::vector<std::byte> private_data{};  // of the prober's Request or Reply
  bool empty_write = true;                // before the steps, where the prober is the initiator
  std::vector<ProfileStep> steps{};
  std::vector<ProfileRegion> regions{};
  std::optional<Template> read{};  // the Send that has the peer read our memory
  bool alive_by_read{};            // a stream lives when the peer reads; else when it answers an empty RDMA Read
  bool takes_sends{};              // of any content
  bool atomics{};                  // it has RFC 7306
  unsigned at_a_time = 1;          // connections

  static constexpr std::size_t kMostText = 64U << 10U;  // octets of a file
  static constexpr std::size_t kMostSteps = 64;
  static constexpr std::size_t kMostOctets = 4096;      // of a Send, of a Read's answer
  static constexpr std::size_t kMostPrivateData = 508;  // of an enhanced frame
};

// The error is a sentence that begins with the line number.
[[nodiscard]] std::expected<Profile, std::string> parse_profile(std::string_view text);

}  // namespace weft::probe
