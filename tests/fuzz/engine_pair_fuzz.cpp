// SPDX-License-Identifier: Apache-2.0
// Two engines whose users, and whose pipe, do what the input says. Whatever happens: every work request completes once
// and in order, Closed comes once and last, and neither end waits for ever.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tests/engine/builders.hpp"

using namespace weft;
using namespace weft::engine;
using namespace weft::engine::test;

namespace {

void demand(bool condition) {
  if (!condition) std::abort();
}

Config config_of(mpa::Role role, unsigned bits) {
  Config config;
  config.role = role;
  config.mpa.crc = (bits & 1) == 0;
  config.mpa.markers = (bits & 2) != 0;
  config.mpa.revision = (bits & 4) != 0 ? 1 : 2;
  config.mpa.peer_to_peer = role == mpa::Role::kInitiator && (bits & 12) == 8;
  config.mpa.rtr = {(bits & 16) != 0, (bits & 32) != 0, (bits & 48) == 0};
  config.mpa.ird = config.mpa.ord = static_cast<std::uint16_t>(1 + (bits >> 6));
  config.emss = 150 + (bits & 64) * 20;
  config.send_queue_depth = 8;
  config.early_placement = 1;
  config.no_receive = (bits & 128) != 0 ? NoReceive::kTerminate : NoReceive::kStall;
  return config;
}

struct Session {
  Pair pair;
  std::uint64_t posted[2] = {0, 0};
  std::uint64_t receives = 0;
  std::uint8_t flip = 0, junk = 0;

  Session(unsigned x, unsigned y) : pair(config_of(mpa::Role::kInitiator, x), config_of(mpa::Role::kResponder, y)) {
    for (End* end : {&pair.a, &pair.b}) {
      end->memory.add(1, 2000).octets.assign(2000, std::byte{0x5a});
      end->memory.add(2, 2000, 0x100);
      end->memory.lend = (x & 64) != 0;
      end->lands = (y & 64) != 0;
    }
    pair.meddle = [this](const End&, std::vector<std::byte>& octets) {
      if (flip != 0) octets[flip % octets.size()] ^= std::byte{flip};
      if (junk != 0) octets.insert(octets.end(), junk, std::byte{junk});
      flip = junk = 0;
    };
  }

  void post(unsigned who, unsigned what, unsigned size, unsigned where) {
    End& end = who == 0 ? pair.a : pair.b;
    const rdmap::LocalSegment local{size % 64 + (where < 250 ? 0 : 0x100), what % 8 > 4 && what % 8 < 7 ? 8 : size * 7,
                                    1 + where / 250};
    WorkRequest request{
        .cookie = posted[who] + 1, .operation = static_cast<Operation>(what % 8), .fence = (what & 8) != 0};
    request.local = rdmap::LocalSegments(&local, 1);
    request.remote_stag = {1 + where % 3};
    request.remote_offset = {where * 8};
    request.sink_stag = {1};
    request.solicited = (what & 16) != 0;
    if (request.operation == Operation::kSend && (what & 32) != 0) request.invalidate = ddp::Stag{2};
    if (end.engine.post(request)) ++posted[who];
  }

  void act(unsigned verb, unsigned a, unsigned b) {
    End& end = (verb & 1) == 0 ? pair.a : pair.b;
    switch (verb >> 1 & 15) {
      case 0:
      case 1:
      case 2:
      case 3: return post(verb & 1, a, b, verb >> 1 & 3);
      case 4: return post(verb & 1, a, b, a ^ b);
      case 5: end.memory.post_receive(++receives, a * 8); return;
      case 6: return pair.run();
      case 7: flip = static_cast<std::uint8_t>(a); return;
      case 8: junk = static_cast<std::uint8_t>(a); return;
      case 9: pair.chop = [a](std::size_t) { return 1 + a * 4; }; return;
      case 10: return pair.advance(std::chrono::milliseconds(a * b));
      case 11: return end.engine.drain((a & 1) != 0);
      case 12: return end.engine.close(pair.now);
      case 13: return end.engine.set_emss(a * 16);
      case 14:
        if (a == 0) end.engine.abort(pair.now);
        return;
      default: end.memory.regions()[1 + a % 2].valid = (b & 1) != 0;
    }
  }

  void check(const End& end, std::uint64_t expected) const {
    demand(end.count<Closed>() == 1 && std::holds_alternative<Closed>(end.events.back()));
    const auto done = end.all<SendCompleted>();
    demand(done.size() == expected);
    for (std::uint64_t i = 0; i < expected; ++i) demand(done[i].cookie == i + 1);
  }
};

}  // namespace

// Octets 0 and 1 configure the ends, octet 2 says whether the startup is accepted; then actions of three octets.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3 || size > 600) return 0;
  Session session(data[0], data[1]);
  Pair& pair = session.pair;
  session.flip = data[2] >= 128 ? data[2] : 0;
  if (!pair.a.engine.connect({})) pair.a.engine.close(pair.now);
  pair.run();
  if (pair.b.count<ConnectionRequested>() > 0 && data[2] % 4 == 3)
    static_cast<void>(pair.b.engine.reject({}));
  else if (pair.b.count<ConnectionRequested>() > 0)
    static_cast<void>(pair.b.engine.accept({}, {}));
  pair.run();
  for (const std::uint8_t* at = data + 3; at + 3 <= data + size; at += 3) session.act(at[0], at[1], at[2]);
  pair.run();
  pair.a.engine.close(pair.now);
  pair.b.engine.close(pair.now);
  pair.advance(std::chrono::minutes(2));
  for (End* end : {&pair.a, &pair.b}) end->engine.abort(pair.now);  // what still waits for a peer's answer
  pair.run();
  session.check(pair.a, session.posted[0]);
  session.check(pair.b, session.posted[1]);
  return 0;
}
