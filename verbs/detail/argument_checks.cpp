// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/argument_checks.hpp"

#include <utility>

#include "mpa/mulpdu.hpp"
#include "transport/socket.hpp"
#include "verbs/detail/send_opcodes.hpp"
#include "verbs/detail/tls_setup.hpp"

namespace weft::verbs::detail {

namespace {

constexpr bool only_bits_of(Access access, Access known) noexcept { return (access | known) == known; }
constexpr bool only_bits_of(SendFlags flags, SendFlags known) noexcept { return (flags | known) == known; }

constexpr Access kKnownAccess = kAllAccess | Access::kZeroBased;
constexpr SendFlags kKnownFlags = SendFlags::kFence | SendFlags::kSignaled | SendFlags::kSolicited | SendFlags::kInline;

constexpr std::uint32_t kMaxConnectRate = 1000000;  // in a second

Result<void> check_time_outs(const Policy& policy) {
  const std::pair<std::string_view, std::chrono::milliseconds> bounded[] = {
      {"policy.connect_timeout", policy.connect_timeout}, {"policy.startup_timeout", policy.startup_timeout},
      {"policy.finish_timeout", policy.finish_timeout},   {"policy.disconnect_timeout", policy.disconnect_timeout},
      {"policy.close_timeout", policy.close_timeout},     {"policy.no_receive_timeout", policy.no_receive_timeout}};
  for (const auto& [name, time] : bounded) {
    if (time.count() <= 0 || time > kMaxTimeout) {
      return fail(Errc::kInvalidArgument, name, "not between 1 ms and 24 days");
    }
  }
  const std::pair<std::string_view, std::chrono::milliseconds> bounded_or_zero[] = {
      {"policy.connect_retry", policy.connect_retry},         {"policy.fpdu_timeout", policy.fpdu_timeout},
      {"policy.idle_timeout", policy.idle_timeout},           {"policy.window_timeout", policy.window_timeout},
      {"policy.tell_stalls_after", policy.tell_stalls_after}, {"policy.timewait", policy.timewait},
      {"policy.first_fpdu_delay", policy.first_fpdu_delay},   {"policy.user_timeout", policy.user_timeout}};
  for (const auto& [name, time] : bounded_or_zero) {
    if (time.count() < 0 || time > kMaxTimeout) {
      return fail(Errc::kInvalidArgument, name, "neither 0 nor between 1 ms and 24 days");
    }
  }
  return {};
}

}  // namespace

Result<void> check(Access access) {
  if (!only_bits_of(access, kKnownAccess)) return fail(Errc::kInvalidArgument, "access", "contains an undefined bit");
  const bool writes = has(access, Access::kRemoteWrite) || has(access, Access::kRemoteAtomic);
  if (writes && !has(access, Access::kLocalWrite)) {
    return fail(Errc::kInvalidArgument, "access", "remote write and atomic access need local write access");
  }
  return {};
}

Result<void> check(const SendRequest& request) {
  if (find_send_opcode(request.opcode) == nullptr)
    return fail(Errc::kInvalidArgument, "opcode", "not a known operation");
  if (!only_bits_of(request.flags, kKnownFlags)) {
    return fail(Errc::kInvalidArgument, "flags", "contains an undefined bit");
  }
  if (request.opcode == SendOpcode::kBindWindow && !only_bits_of(request.bind.access, kKnownAccess)) {
    return fail(Errc::kInvalidArgument, "bind.access", "contains an undefined bit");
  }
  return {};
}

Result<void> check(const Policy& policy) {
  if (policy.mpa_revision != 1 && policy.mpa_revision != 2) {
    return fail(Errc::kInvalidArgument, "policy.mpa_revision", "neither 1 nor 2");
  }
  if (policy.peer_to_peer && !(policy.enhanced && policy.mpa_revision == 2)) {
    return fail(Errc::kInvalidArgument, "policy.peer_to_peer", "needs enhanced and MPA revision 2");
  }
  if (policy.peer_to_peer && !policy.rtr.any()) {
    return fail(Errc::kInvalidArgument, "policy.rtr", "peer-to-peer needs at least one ready-to-receive type");
  }
  if (policy.max_ulpdu != 0 && (policy.max_ulpdu < mpa::kMinMulpdu || policy.max_ulpdu > mpa::kMaxUlpdu)) {
    return fail(Errc::kInvalidArgument, "policy.max_ulpdu", "neither 0 nor between 128 and 64768");
  }
  if (policy.connect_rate_per_peer > kMaxConnectRate) {
    return fail(Errc::kInvalidArgument, "policy.connect_rate_per_peer", "more than 1000000");
  }
  if (policy.no_receive != NoReceive::kStall && policy.no_receive != NoReceive::kTerminate) {
    return fail(Errc::kInvalidArgument, "policy.no_receive", "neither kStall nor kTerminate");
  }
  if (!policy.congestion_control.empty()) {
    const auto error = transport::check_congestion_control(policy.congestion_control);
    if (error) {
      return fail(Errc::kInvalidArgument, "policy.congestion_control",
                  "the system does not have or does not permit this algorithm", error.value());
    }
  }
  if (const auto good = check_tls(policy); !good) return good;
  return check_time_outs(policy);
}

}  // namespace weft::verbs::detail
