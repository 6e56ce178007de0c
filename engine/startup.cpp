// SPDX-License-Identifier: Apache-2.0
#include "engine/startup.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::engine {

namespace {

StartupError startup_error(mpa::Misuse misuse) noexcept {
  switch (misuse) {
    case mpa::Misuse::kWrongPhase: return StartupError::kWrongState;
    case mpa::Misuse::kPrivateDataTooLong: return StartupError::kPrivateDataTooLong;
    case mpa::Misuse::kDepthOutOfRange: return StartupError::kIrdOrdOutOfRange;
    case mpa::Misuse::kRevision:
    case mpa::Misuse::kPeerToPeerNeedsEnhanced:
    case mpa::Misuse::kNoRtrType: return StartupError::kBadPolicy;
  }
  std::unreachable();
}

std::expected<mpa::ReadDepth, StartupError> depth(const std::optional<std::uint32_t>& wanted) noexcept {
  if (!wanted) return std::nullopt;
  if (*wanted > std::numeric_limits<std::uint16_t>::max()) return std::unexpected(StartupError::kIrdOrdOutOfRange);
  return static_cast<std::uint16_t>(*wanted);
}

// Never promise more inbound Reads than we are willing to hold.
std::uint16_t within(std::uint16_t ird, std::uint32_t max_ird) noexcept {
  return ird == mpa::kNoNegotiation ? ird : static_cast<std::uint16_t>(std::min<std::uint32_t>(ird, max_ird));
}

std::variant<mpa::Initiator, mpa::Responder> machine(const Config& config) {
  mpa::Policy policy = config.mpa;
  policy.ird = within(policy.ird, config.max_ird);
  if (config.role == mpa::Role::kInitiator) return mpa::Initiator(policy);
  return mpa::Responder(policy);
}

template <typename... Outcomes>
StartupProgress widen(const mpa::StartupStep<Outcomes...>& step) {
  return {step.consumed,
          std::visit([](const auto& outcome) -> decltype(StartupProgress::outcome) { return outcome; }, step.outcome)};
}

}  // namespace

Startup::Startup(const Config& config) : machine_(machine(config)), max_ird_(config.max_ird) {}

std::expected<void, StartupError> Startup::connect(Bytes private_data) {
  auto* initiator = std::get_if<mpa::Initiator>(&machine_);
  if (initiator == nullptr) return std::unexpected(StartupError::kWrongRole);
  const auto request = initiator->start(private_data);
  if (!request) return std::unexpected(startup_error(request.error()));
  unsent_ = *request;
  return {};
}

std::expected<mpa::Agreement, StartupError> Startup::accept(Bytes private_data, const AcceptParameters& parameters) {
  auto* responder = std::get_if<mpa::Responder>(&machine_);
  if (responder == nullptr) return std::unexpected(StartupError::kWrongRole);
  auto ird = depth(parameters.ird);
  const auto ord = depth(parameters.ord);
  if (!ird || !ord) return std::unexpected(StartupError::kIrdOrdOutOfRange);
  if (*ird) *ird = within(**ird, max_ird_);
  const auto reply = responder->accept(private_data, {*ird, *ord});
  if (!reply) return std::unexpected(startup_error(reply.error()));
  unsent_ = reply->octets;
  return reply->agreement;
}

std::expected<void, StartupError> Startup::reject(Bytes private_data) {
  auto* responder = std::get_if<mpa::Responder>(&machine_);
  if (responder == nullptr) return std::unexpected(StartupError::kWrongRole);
  const auto reply = responder->reject(private_data);
  if (!reply) return std::unexpected(startup_error(reply.error()));
  unsent_ = *reply;
  return {};
}

StartupProgress Startup::receive(Bytes octets) {
  return std::visit([&](auto& machine) { return widen(machine.receive(octets)); }, machine_);
}

mpa::StartupFailure Startup::closed() {
  return std::visit([](auto& machine) { return machine.closed(); }, machine_);
}

mpa::StartupFailure Startup::timed_out() {
  return std::visit([](auto& machine) { return machine.timed_out(); }, machine_);
}

void Startup::sent(std::size_t octets) noexcept {
  unsent_ = unsent_.subspan(octets);
  if (unsent_.empty()) std::visit([](auto& machine) { machine.frame_sent(); }, machine_);
}

void Startup::first_fpdu_sent() noexcept {
  if (auto* initiator = std::get_if<mpa::Initiator>(&machine_)) initiator->first_fpdu_sent();
}

void Startup::first_fpdu_received() noexcept {
  if (auto* responder = std::get_if<mpa::Responder>(&machine_)) responder->first_fpdu_received();
}

}  // namespace weft::engine
