// SPDX-License-Identifier: Apache-2.0
// What a policy says of TLS, as the transport has it.
#pragma once

#include <memory>

#include "mpa/policy.hpp"
#include "transport/tls/session.hpp"
#include "verbs/error.hpp"
#include "verbs/policy.hpp"

namespace weft::verbs::detail {

// Whether its files can be used. May wait for the disk.
[[nodiscard]] Result<void> check_tls(const Policy& policy);
// A listener needs a certificate.
[[nodiscard]] Result<void> can_listen(const Policy& policy);
// For one connection; null: it is plain. Files that have changed are read first; where they cannot be used those of before
// hold, and the log says so.
[[nodiscard]] Result<std::unique_ptr<transport::tls::Session>> begin_tls(const Policy& policy, mpa::Role role);

}  // namespace weft::verbs::detail
