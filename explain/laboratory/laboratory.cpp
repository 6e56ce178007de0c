// SPDX-License-Identifier: Apache-2.0
// The driver's side: what is fed goes to the engine frame by frame, what the engine sends is collected.
#include "explain/laboratory/laboratory.hpp"

#include <algorithm>

namespace weft::explain::laboratory {
namespace {

using Want = engine::ReceiveResult::Want;

engine::Config config_of(const Script& script) {
  engine::Config config;
  config.role = script.role;
  config.mpa = script.policy;
  config.emss = script.emss;
  config.no_receive = script.no_receive;
  config.first_atomic_id = script.first_atomic_id;
  return config;
}

Direction from_peer(mpa::Role role) noexcept {
  return role == mpa::Role::kInitiator ? Direction::kFromResponder : Direction::kFromInitiator;
}
Direction to_peer(mpa::Role role) noexcept {
  return role == mpa::Role::kInitiator ? Direction::kFromInitiator : Direction::kFromResponder;
}

}  // namespace

Laboratory::Laboratory(Script script)
    : script_(std::move(script)),
      memory_(script_),
      engine_(config_of(script_), memory_, now_),
      in_{.reader = FrameReader(from_peer(script_.role))},
      out_{.reader = FrameReader(to_peer(script_.role))} {}

Step Laboratory::start() {
  if (memory_.full()) return refuse("the regions of the script hold more than 32 MiB");
  if (script_.role == mpa::Role::kInitiator && !engine_.connect(script_.private_data)) {
    return refuse(
        "an initiator cannot ask for what the script says: MPA revision, enhanced data, peer-to-peer with a "
        "kind of ready-to-receive, and private data of 512 octets at most have to go together");
  }
  drive();
  return finish();
}

Step Laboratory::feed(Bytes octets, std::uint32_t row) {
  if (in_.octets.size() - in_.used + octets.size() > kMostHeld) return refuse("more than 256 KiB at a time");
  if (in_.finished && !octets.empty()) return refuse("the peer has sent its FIN");
  row_ = std::max(row_, row);
  in_.octets.erase(in_.octets.begin(), in_.octets.begin() + static_cast<std::ptrdiff_t>(std::exchange(in_.used, 0)));
  in_.octets.insert(in_.octets.end(), octets.begin(), octets.end());
  drive();
  return finish();
}

Step Laboratory::end() {
  if (!std::exchange(in_.finished, true)) engine_.end_of_stream(now_);
  drive();
  return finish();
}

Step Laboratory::post_receive(std::uint64_t octets) {
  memory_.post_receive(octets);
  drive();
  return finish();
}

Step Laboratory::pass_time() {
  const auto next = engine_.next_deadline();
  if (!next) return refuse("no time-out runs");
  now_ = std::max(now_, *next);
  engine_.deadline_passed(now_);
  drive();
  return finish();
}

// Until nothing moves any more.
void Laboratory::drive() {
  do {
    poll();
    post_due();
    transmit();
  } while (!memory_.full() && take_frame());
  poll();
  if (memory_.full() && state_ != State::kClosed) {
    engine_.abort(now_);
    step_.refused = "the 32 MiB that the laboratory keeps are full: this run is over";
    poll();
  }
  follow_disposition();
}

// --- What arrives

// The octets to show to the engine now: one frame, so that each can be told by itself. In the startup all that is
// there, for it is an error when a startup frame has octets on its heels.
std::size_t Laboratory::look() {
  const Bytes there = Bytes(in_.octets).subspan(in_.used);
  if (!in_.front) in_.front = in_.reader.front(there, framing(own_));
  if (in_.front && in_.front->startup) {
    peers_ = {in_.front->startup->crc, in_.front->startup->markers};
    return there.size();
  }
  return in_.front ? in_.front->octets.size() : there.size();
}

bool Laboratory::take_frame() {
  if (in_.used == in_.octets.size()) return false;
  if (established_ && !out_.fpdu_sent && script_.role == mpa::Role::kInitiator) speak_first();
  const std::size_t shown = look();
  auto result = engine_.receive(MutableBytes(in_.octets).subspan(in_.used, shown), now_);
  if (result.want == Want::kNothing) result.consumed = shown;  // to be discarded
  const bool sound = !step_.error;
  poll();
  const bool refused = result.want == Want::kNothing || (sound && step_.error && !step_.error->remote);
  if (result.consumed > 0) note(result.consumed, !refused);
  in_.last = result;
  in_.used += result.consumed;
  return result.consumed > 0 || result.want == Want::kPollEvents;
}

void Laboratory::note(std::size_t consumed, bool accepted) {
  Arrived arrived{.at = in_.taken, .size = consumed, .accepted = accepted};
  const bool over = in_.last.want == Want::kNothing;
  if (in_.front && !over) {
    arrived.words = in_.front->words;
    arrived.fields = in_.front->fields;
    if (accepted) count_in(*in_.front);
    in_.reader.pass(*in_.front);
  } else {
    arrived.words = over ? "not looked at: nothing more is taken from the peer" : "octets that are no frame";
  }
  step_.in.push_back(std::move(arrived));
  in_.front.reset();
  in_.taken += consumed;
  step_.consumed += consumed;
}

// --- What is sent

void Laboratory::transmit() {
  for (std::size_t sent = 0; sent < kMostSent;) {
    engine_.fill(out_.batch, now_);
    if (out_.batch.empty()) break;
    std::vector<std::byte> octets;
    for (const Bytes piece : out_.batch.pieces()) octets.insert(octets.end(), piece.begin(), piece.end());
    out_.batch.consume(octets.size());
    engine_.written(octets.size(), now_);
    show_sent(octets);
    sent += octets.size();
    poll();
  }
}

// A batch has whole frames.
void Laboratory::show_sent(Bytes octets) {
  while (!octets.empty()) {
    auto frame = out_.reader.front(octets, framing(peers_));
    if (!frame) {
      frame = Frame{.octets = {octets.begin(), octets.end()}, .words = "octets that are no frame"};
    } else {
      count_out(*frame);
      out_.reader.pass(*frame);
    }
    octets = octets.subspan(frame->octets.size());
    step_.out.push_back(std::move(*frame));
  }
}

// MPA-7.1.1-11: the CRC is in use when either end asks for it. Markers are in what goes to an end that wants them.
mpa::Framing Laboratory::framing(const Wishes& of_receiver) const noexcept {
  return {.crc = own_.crc || peers_.crc, .markers = of_receiver.markers};
}

void Laboratory::follow_disposition() {
  switch (engine_.disposition()) {
    case engine::Disposition::kOpen: return;
    case engine::Disposition::kShutdownWrite:
      if (!std::exchange(out_.fin_sent, true)) step_.events.push_back({"FIN sent", "this end sends nothing more"});
      return;
    case engine::Disposition::kClose:
      if (!std::exchange(out_.fin_sent, true)) step_.events.push_back({"FIN sent", "this end closes the connection"});
      state_ = State::kClosed;
      return;
    case engine::Disposition::kReset:
      if (!std::exchange(out_.fin_sent, true)) step_.events.push_back({"RST sent", "this end resets the connection"});
      state_ = State::kClosed;
      return;
  }
}

Step Laboratory::finish() {
  step_.held = in_.octets.size() - in_.used;
  step_.state = state_;
  step_.waiting = waiting({script_.role, state_, in_.last, out_.fin_sent, in_.finished});
  step_.placed = memory_.take_placed();
  step_.more = engine_.has_output();
  step_.queues = queues_;
  return std::exchange(step_, {});
}

Step Laboratory::refuse(std::string why) {
  step_.refused = std::move(why);
  return finish();
}

}  // namespace weft::explain::laboratory
