// SPDX-License-Identifier: Apache-2.0
// Configurations, work requests and an established pair, for tests of either framework.
#pragma once

#include <stdexcept>

#include "tests/engine/pair.hpp"

namespace weft::engine::test {

// What a test takes for granted; both frameworks report the exception as a failure.
inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

inline Config initiator() {
  Config config;
  config.role = mpa::Role::kInitiator;
  return config;
}
inline Config responder() {
  Config config;
  config.role = mpa::Role::kResponder;
  return config;
}

inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::byte>((i * 7 + i / 251 + seed * 13) & 0xff);
  return octets;
}

inline WorkRequest send_of(std::uint64_t cookie, const rdmap::LocalSegment& source) {
  return {.cookie = cookie, .operation = Operation::kSend, .local = rdmap::LocalSegments(&source, 1)};
}
inline WorkRequest write_of(std::uint64_t cookie, const rdmap::LocalSegment& source, std::uint32_t stag,
                            std::uint64_t offset) {
  return {.cookie = cookie,
          .operation = Operation::kWrite,
          .local = rdmap::LocalSegments(&source, 1),
          .remote_stag = {stag},
          .remote_offset = {offset}};
}
inline WorkRequest read_of(std::uint64_t cookie, const rdmap::LocalSegment& sink, std::uint32_t stag,
                           std::uint64_t offset) {
  return {.cookie = cookie,
          .operation = Operation::kRead,
          .local = rdmap::LocalSegments(&sink, 1),
          .remote_stag = {stag},
          .remote_offset = {offset},
          .sink_stag = {sink.lkey},
          .sink_offset = {sink.address}};
}

// Request, Reply, and whatever the initiator says first by itself.
inline void establish_startup(Pair& pair) {
  require(pair.a.engine.connect({}).has_value(), "connect");
  pair.run();
  require(pair.b.count<ConnectionRequested>() == 1, "the Request arrived");
  require(pair.b.engine.accept({}, {}).has_value(), "accept");
  pair.run();
  require(pair.a.count<Established>() == 1, "the Reply arrived");
}

// Both ends may send.
inline void establish(Pair& pair) {
  establish_startup(pair);
  // Let the responder speak: a first FPDU of the initiator lifts the fence.
  if (!pair.a.first<Established>()->rtr) {
    require(pair.a.engine.post({.cookie = 0xf0, .operation = Operation::kWrite}).has_value(), "post");
    pair.run();
    require(pair.a.count<SendCompleted>() == 1, "the Write completed");
    std::erase_if(pair.a.events, [](const Event& event) { return std::holds_alternative<SendCompleted>(event); });
  }
  require(pair.b.count<Established>() == 1, "both are established");
}

}  // namespace weft::engine::test
