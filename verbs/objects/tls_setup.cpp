// SPDX-License-Identifier: Apache-2.0
#include "verbs/objects/tls_setup.hpp"

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "transport/tls/key_log.hpp"
#include "verbs/log/log.hpp"

namespace weft::verbs::detail {

namespace {

namespace tls = transport::tls;

tls::Settings settings_of(const Policy& policy) {
  return {.certificate = policy.tls.certificate,
          .key = policy.tls.key,
          .ca = policy.tls.ca,
          .crl = policy.tls.crl,
          .expect = policy.tls.expect,
          .staple = policy.tls.staple,
          .staple_required = policy.tls.require_staple,
          .resumption = policy.tls.resumption,
          .ciphers = policy.tls.ciphers,
          .groups = policy.tls.groups};
}

constexpr std::string_view argument(tls::Setting setting) noexcept {
  switch (setting) {
    case tls::Setting::kCertificate: return "policy.tls.certificate";
    case tls::Setting::kKey: return "policy.tls.key";
    case tls::Setting::kCa: return "policy.tls.ca";
    case tls::Setting::kCrl: return "policy.tls.crl";
    case tls::Setting::kExpect: return "policy.tls.expect";
    case tls::Setting::kStaple: return "policy.tls.staple";
    case tls::Setting::kStapleRequired: return "policy.tls.require_staple";
    case tls::Setting::kCiphers: return "policy.tls.ciphers";
    case tls::Setting::kGroups: return "policy.tls.groups";
  }
  return "policy.tls.mode";
}

Error to_error(const tls::Refusal& refusal) noexcept {
  return {Errc::kInvalidArgument, argument(refusal.which), refusal.why, refusal.os_error};
}

Result<tls::Context::Found> find_context(const Policy& policy) {
  auto found = tls::Context::find(settings_of(policy));
  if (const auto complaint = tls::take_key_log_complaint()) log_warning("SSLKEYLOGFILE", *complaint);
  if (!found) return std::unexpected(to_error(found.error()));
  return std::move(*found);
}

// An end that connects and takes whatever peer answers would be protected from nothing but ears.
Result<tls::Part> part_of(const Policy& policy, mpa::Role role, const tls::Context& context) {
  const bool connects = role == mpa::Role::kInitiator;
  if (connects && !context.judges_peers())
    return fail(Errc::kInvalidArgument, "policy.tls.ca", "to connect needs it, or a fingerprint in tls.expect");
  if (!connects && !context.has_certificate())
    return fail(Errc::kInvalidArgument, "policy.tls.certificate", "to listen with TLS needs one");
  if (connects) return tls::Part::kClient;
  return policy.tls.mode == Tls::kAccept ? tls::Part::kServerIfAsked : tls::Part::kServer;
}

}  // namespace

Result<void> check_tls(const Policy& policy) {
  if (policy.tls.mode == Tls::kOff) return {};
  const auto found = find_context(policy);
  return found ? Result<void>() : std::unexpected(found.error());
}

Result<void> can_listen(const Policy& policy) {
  if (policy.tls.mode == Tls::kOff) return {};
  const auto found = find_context(policy);
  if (!found) return std::unexpected(found.error());
  const auto part = part_of(policy, mpa::Role::kResponder, *found->context);
  return part ? Result<void>() : std::unexpected(part.error());
}

// Starts TLS. For a connecting end, kAccept means no TLS: only listeners use that mode.
Result<std::unique_ptr<tls::Session>> begin_tls(const Policy& policy, mpa::Role role) {
  const bool off = policy.tls.mode == Tls::kOff || (policy.tls.mode == Tls::kAccept && role == mpa::Role::kInitiator);
  if (off) return nullptr;
  const auto found = find_context(policy);
  if (!found) return std::unexpected(found.error());
  if (found->stale)
    log_warning("TLS, whose files have changed", to_error(*found->stale).message() + ": what was read before holds");
  const auto part = part_of(policy, role, *found->context);
  if (!part) return std::unexpected(part.error());
  auto session = tls::Session::make(found->context, *part);
  if (!session) return fail(Errc::kSystem, "policy.tls", "no memory for TLS", ENOMEM);
  return session;
}

}  // namespace weft::verbs::detail
