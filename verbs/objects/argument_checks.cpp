// SPDX-License-Identifier: Apache-2.0
#include "verbs/objects/argument_checks.hpp"

#include "transport/socket.hpp"
#include "verbs/base/policy_table.hpp"
#include "verbs/base/send_opcodes.hpp"
#include "verbs/objects/tls_setup.hpp"

namespace weft::verbs::detail {

namespace {

constexpr bool only_bits_of(Access access, Access known) noexcept { return (access | known) == known; }
constexpr bool only_bits_of(SendFlags flags, SendFlags known) noexcept { return (flags | known) == known; }

constexpr Access kKnownAccess = kAllAccess | Access::kZeroBased;
constexpr SendFlags kKnownFlags = SendFlags::kFence | SendFlags::kSignaled | SendFlags::kSolicited | SendFlags::kInline;

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
  for (const PolicyRow& row : policy_rows()) {
    const std::string_view refusal = row.refusal(policy);
    if (!refusal.empty()) return fail(Errc::kInvalidArgument, row.argument, refusal);
  }
  const StartupPolicy& startup = policy.startup;
  if (startup.peer_to_peer && !(startup.enhanced && startup.mpa_revision == 2)) {
    return fail(Errc::kInvalidArgument, "policy.startup.peer_to_peer", "needs enhanced and MPA revision 2");
  }
  if (startup.peer_to_peer && !startup.rtr.any()) {
    return fail(Errc::kInvalidArgument, "policy.startup.rtr", "peer-to-peer needs at least one ready-to-receive type");
  }
  if (startup.same_host == SameHost::kRequire && policy.tls.mode == Tls::kRequire) {
    return fail(Errc::kInvalidArgument, "policy.startup.same_host", "a connection with TLS uses no shared memory");
  }
  if (!startup.congestion_control.empty()) {
    const auto error = transport::check_congestion_control(startup.congestion_control);
    if (error) {
      return fail(Errc::kInvalidArgument, "policy.startup.congestion_control",
                  "the system does not have or does not permit this algorithm", error.value());
    }
  }
  return check_tls(policy);
}

PostResult check_receives(const QueuePairAttributes& attributes, QpState state) {
  if (attributes.srq != nullptr) {
    return std::unexpected(
        PostFailure{{Errc::kInvalidArgument, "queue pair", "its receives come from a shared receive queue"}, 0});
  }
  if (state == QpState::kReset) {
    return std::unexpected(PostFailure{{Errc::kInvalidState, "queue pair", "receives need INIT or a later state"}, 0});
  }
  return {};
}

}  // namespace weft::verbs::detail
