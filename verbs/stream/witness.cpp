// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/witness.hpp"

#include <cstddef>
#include <new>
#include <utility>

#include "verbs/stream/captured_stream.hpp"
#include "verbs/stream/narrator.hpp"
#include "verbs/stream/stall_watch.hpp"

namespace weft::verbs::detail {

namespace {

// Has no state, needs no memory, and is never destroyed: threads may still call while exit() runs.
Witness& nobody() noexcept {
  alignas(Witness) static std::byte place[sizeof(Witness)];
  static auto* const one = new (place) Witness;
  return *one;
}

class Observers final : public Witness {
 public:
  Observers(Setup setup, transport::Pipe& pipe, std::unique_ptr<Narrator> narrator)
      : pipe_(pipe), narrator_(std::move(narrator)) {
    if (setup.capture) capture_.emplace(*std::move(setup.capture), setup.role);
    if (capture_ && setup.shows == PcapShows::kWire) pipe.record(capture_->wire());
    if (setup.report_stalls_after.count() != 0) stalls_.emplace(setup.report_stalls_after);
  }

  [[nodiscard]] bool sees_octets() const noexcept override { return capture_ || narrator_; }
  [[nodiscard]] bool captures() const noexcept override { return capture_.has_value(); }
  [[nodiscard]] StallWatch* stalls() noexcept override { return stalls_ ? &*stalls_ : nullptr; }

  void received(Bytes octets) override {
    if (narrator_) narrator_->received(octets);
    if (capture_ && !pipe_.records()) capture_->arrived(octets);
  }
  void understood(std::size_t octets) override {
    if (capture_) capture_->understood(octets);
  }
  void rest_understood() override {
    if (capture_) capture_->rest();
  }
  void sent(std::span<const Bytes> pieces) override {
    if (capture_ && !pipe_.records()) capture_->sent(pieces);
    if (narrator_) narrator_->sent(pieces);
  }

  void fin_received() override {
    if (capture_) capture_->fin_received();
    if (narrator_) narrator_->say("FIN received");
  }
  // A pipe that records has not written its close_notify yet: finished() follows.
  void fin_sent() override {
    if (narrator_) narrator_->say("FIN sent");
    if (capture_ && !pipe_.records()) capture_->fin_sent();
  }
  void lost(std::string_view how) override {
    if (narrator_) narrator_->lost(how);
  }
  void rst_received() override {
    if (capture_) capture_->rst_received();
  }
  void finished(bool reset) override {
    if (!capture_) return;
    reset ? capture_->rst_sent() : capture_->fin_sent();
  }

  void on(const transport::PeerIdentity& peer) override { narrate(peer); }
  void on(const engine::Established& event) override { narrate(event); }
  void on(const engine::ProtocolError& event) override { narrate(event); }
  void on(const engine::TerminateReceived& event) override { narrate(event); }
  void on(const engine::StartupFailed& event) override { narrate(event); }
  void closed(std::string_view how) override {
    if (narrator_) narrator_->closed(how);
  }
  void say(std::string_view what) override {
    if (narrator_) narrator_->say(what);
  }

 private:
  void narrate(const auto& event) const {
    if (narrator_) narrator_->on(event);
  }

  const transport::Pipe& pipe_;  // whose own record of the wire leaves only the ends to report here
  const std::unique_ptr<Narrator> narrator_;
  std::optional<CapturedStream> capture_;
  std::optional<StallWatch> stalls_;
};

}  // namespace

void Witness::Delete::operator()(Witness* witness) const noexcept {
  if (witness != &nobody()) delete witness;
}

Witness::Pointer Witness::none() { return Pointer(&nobody()); }

Witness::Pointer Witness::make(Setup setup, transport::Pipe& pipe) {
  auto narrator = Narrator::make(setup.connection, pipe.socket(), setup.role);
  if (!setup.capture && !narrator && setup.report_stalls_after.count() == 0) return none();
  return Pointer(new Observers(std::move(setup), pipe, std::move(narrator)));
}

}  // namespace weft::verbs::detail
