// SPDX-License-Identifier: Apache-2.0
// The MPA startup of one connection, in either role: from calls of the user and octets of the peer to frames to send
// and a result. Once both ends agree, only the rule about who may send first remains.
#pragma once

#include <expected>
#include <variant>

#include "engine/engine.hpp"
#include "mpa/startup.hpp"

namespace weft::engine {

struct StartupProgress {
  std::size_t consumed{};
  std::variant<mpa::NeedMore, mpa::RequestReceived, mpa::Agreement, mpa::Rejection, mpa::StartupFailure> outcome{};
};

class Startup {
 public:
  explicit Startup(const Config& config);

  // --- User
  std::expected<void, StartupError> connect(Bytes private_data);
  std::expected<mpa::Agreement, StartupError> accept(Bytes private_data, const AcceptParameters& parameters);
  std::expected<void, StartupError> reject(Bytes private_data);

  // --- Peer
  StartupProgress receive(Bytes octets);
  mpa::StartupFailure closed();
  mpa::StartupFailure timed_out();

  // --- Our frame on its way out
  [[nodiscard]] Bytes unsent() const noexcept { return unsent_; }
  void sent(std::size_t octets) noexcept;

  // --- Who may send (RFC 5044 section 7.1.2, RFC 6581 section 5)
  [[nodiscard]] mpa::Phase phase() const noexcept {
    return std::visit([](const auto& machine) { return machine.phase(); }, machine_);
  }
  // FPDUs may go out, once our own frame is gone; and the one that says why the startup failed.
  [[nodiscard]] bool may_send() const noexcept {
    return (mpa::may_send_fpdus(phase()) && unsent_.empty()) || ends_with_terminate_;
  }
  void first_fpdu_sent() noexcept;
  void first_fpdu_received() noexcept;
  void ends_with_terminate() noexcept { ends_with_terminate_ = true; }

 private:
  std::variant<mpa::Initiator, mpa::Responder> machine_;
  std::uint32_t max_ird_;
  Bytes unsent_{};
  bool ends_with_terminate_ = false;
};

}  // namespace weft::engine
