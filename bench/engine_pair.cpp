// SPDX-License-Identifier: Apache-2.0
#include "bench/engine_pair.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace weft::bench {
namespace {

using namespace engine;

constexpr std::size_t kBuffer = 256 * 1024;  // as in verbs/memory/buffer_pool.hpp

void must(bool holds) {
  if (!holds) std::abort();
}

Config config_of(mpa::Role role, const PairSettings& settings) {
  Config config{.role = role, .emss = settings.emss, .send_queue_depth = EnginePair::kDepth};
  config.mpa.crc = settings.crc;
  config.mpa.markers = settings.markers;
  return config;
}

}  // namespace

EnginePair::End::End(mpa::Role role, const PairSettings& settings)
    : memory(settings.memory), engine(config_of(role, settings), memory, {}), batch(kBuffer), staging(kBuffer) {}

EnginePair::EnginePair(const PairSettings& settings)
    : initiator_(mpa::Role::kInitiator, settings), responder_(mpa::Role::kResponder, settings) {
  establish();
}

// The first message of the initiator lifts the fence before the responder's own.
void EnginePair::establish() {
  must(initiator_.engine.connect({}).has_value());
  run();
  must(responder_.engine.accept({}, {}).has_value());
  run();
  post(work(Operation::kWrite, 8));
  run();
  must(take_completed() == 1);
}

WorkRequest EnginePair::work(Operation operation, std::uint32_t length) {
  segment_ = {.address = 0, .length = length, .lkey = FlatMemory::kStag};
  WorkRequest request{.operation = operation,
                      .local = rdmap::LocalSegments(&segment_, 1),
                      .remote_stag = {FlatMemory::kStag},
                      .sink_stag = {FlatMemory::kStag}};
  request.atomic.add_or_swap = 1;
  return request;
}

void EnginePair::post(const WorkRequest& request) { must(initiator_.engine.post(request).has_value()); }

void EnginePair::run() {
  for (bool moved = true; moved;) {
    const bool forth = carry(initiator_, responder_);
    const bool back = carry(responder_, initiator_);
    moved = forth || back;
  }
}

bool EnginePair::carry(End& from, End& to) {
  if (from.batch.empty() && from.engine.has_output()) from.engine.fill(from.batch, {});
  const bool wrote = write(from, to);
  poll(from);
  const bool took = read(to);
  poll(to);
  return wrote || took;
}

// As a socket takes them: what there is room for.
bool EnginePair::write(End& from, End& to) {
  std::size_t moved = 0;
  for (const Bytes piece : from.batch.pieces()) {
    const Bytes fits = piece.first(std::min(piece.size(), to.staging.size() - to.staged));
    std::memcpy(to.staging.data() + to.staged, fits.data(), fits.size());
    to.staged += fits.size();
    moved += fits.size();
    if (fits.size() < piece.size()) break;
  }
  if (moved == 0) return false;
  from.batch.consume(moved);
  from.engine.written(moved, {});
  return true;
}

bool EnginePair::read(End& to) {
  if (to.staged == 0) return false;
  const auto result = to.engine.receive(MutableBytes(to.staging).first(to.staged), {});
  to.staged -= result.consumed;
  if (to.staged != 0) std::memmove(to.staging.data(), to.staging.data() + result.consumed, to.staged);
  return result.consumed != 0;
}

void EnginePair::poll(End& end) {
  while (const auto event = end.engine.poll_event()) {
    if (const auto* done = std::get_if<SendCompleted>(&*event)) {
      must(done->status == WorkStatus::kSuccess);
      ++completed_;
    }
    must(!std::holds_alternative<ProtocolError>(*event) && !std::holds_alternative<Closed>(*event));
  }
}

}  // namespace weft::bench
