// SPDX-License-Identifier: Apache-2.0
// The memory of the process that peers can reach by an STag: the octets of all regions with a remote right, or to which
// windows may be bound. Memory that is registered twice counts twice.
#pragma once

#include <cstdint>
#include <memory>

#include "verbs/base/quota.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

[[nodiscard]] const std::shared_ptr<Quota>& exposed_memory_quota();
// The share of a region, until it is deregistered. Errc::kNoResources beyond set_exposed_memory_limit().
[[nodiscard]] Result<Quota::Share> expose(std::uint64_t octets, Access access);

}  // namespace weft::verbs::detail
