// SPDX-License-Identifier: Apache-2.0
// Two engines joined in memory, as two streams drive theirs but without sockets, clocks and threads: what runs here
// runs the same way each time. For the micro-benchmarks, and for tests/instructions, which counts its instructions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/flat_memory.hpp"
#include "engine/engine.hpp"

namespace weft::bench {

struct PairSettings {
  std::uint32_t emss = 1448;
  bool crc = true;
  bool markers = false;              // in both directions
  std::size_t memory = 1024 * 1024;  // octets of each end's region
};

class EnginePair {
 public:
  static constexpr std::uint32_t kDepth = 128;  // work requests that may be posted before run()

  explicit EnginePair(const PairSettings& settings);

  // A work request of the first `length` octets of either region; the initiator posts it.
  [[nodiscard]] engine::WorkRequest work(engine::Operation operation, std::uint32_t length);
  void post(const engine::WorkRequest& request);
  // Carries octets until nothing moves any more.
  void run();

  // Returns how many of the initiator's work requests completed since the last call. Ends the process if one failed,
  // because the measurement is then void.
  [[nodiscard]] std::uint64_t take_completed() noexcept { return std::exchange(completed_, 0); }

 private:
  struct End {
    End(mpa::Role role, const PairSettings& settings);

    FlatMemory memory;
    engine::Engine engine;
    engine::TransmitBatch batch;
    std::vector<std::byte> staging;  // what arrived and the engine has not taken
    std::size_t staged = 0;
  };

  bool carry(End& from, End& to);
  static bool write(End& from, End& to);
  static bool read(End& to);
  void poll(End& end);
  void establish();

  End initiator_, responder_;
  rdmap::LocalSegment segment_{};
  std::uint64_t completed_ = 0;
};

}  // namespace weft::bench
