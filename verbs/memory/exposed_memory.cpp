// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/exposed_memory.hpp"

#include <limits>

#include "verbs/options.hpp"

namespace weft::verbs {

namespace {

constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();

bool is_exposed(Access access) noexcept {
  return has(access, Access::kRemoteWrite) || has(access, Access::kRemoteRead) || has(access, Access::kRemoteAtomic) ||
         has(access, Access::kWindowBind);
}

}  // namespace

const std::shared_ptr<detail::Quota>& detail::exposed_memory_quota() {
  static const auto* const one = new std::shared_ptr<Quota>(std::make_shared<Quota>(
      "length", kNoBound, "more memory that peers can reach than set_exposed_memory_limit() allows the process"));
  return *one;  // never destroyed: regions may go while exit() runs
}

Result<detail::Quota::Share> detail::expose(std::uint64_t octets, Access access) {
  if (!is_exposed(access)) return Quota::Share();
  return Quota::take(exposed_memory_quota(), octets);
}

void set_exposed_memory_limit(std::uint64_t octets) {
  detail::exposed_memory_quota()->set_limit(octets == 0 ? kNoBound : octets);
}

std::uint64_t exposed_memory() { return detail::exposed_memory_quota()->taken(); }

}  // namespace weft::verbs
