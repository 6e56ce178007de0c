// SPDX-License-Identifier: Apache-2.0
// The TLS settings of a policy in the form that the transport uses.
#pragma once

#include <memory>

#include "mpa/policy.hpp"
#include "transport/tls/session.hpp"
#include "verbs/error.hpp"
#include "verbs/policy.hpp"

namespace weft::verbs::detail {

// Returns whether its files can be used. May wait for the disk.
[[nodiscard]] Result<void> check_tls(const Policy& policy);
// A listener needs a certificate.
[[nodiscard]] Result<void> can_listen(const Policy& policy);
// Creates the TLS session of a connection; null: the connection is plain. First reads files that have changed. If they
// are unusable, the previous ones remain in use, which is logged.
[[nodiscard]] Result<std::unique_ptr<transport::tls::Session>> begin_tls(const Policy& policy, mpa::Role role);

}  // namespace weft::verbs::detail
