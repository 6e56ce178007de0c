// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/grant.hpp"

#include "ddp/tagged.hpp"

namespace weft::verbs::detail {

using ddp::AccessError;
using ddp::LocalFault;

namespace {

bool associated(const Grant& grant, Accessor who) noexcept {
  // RDMAP-8.1.1-01, SEC-6.1.1-03, DDP-8.2-01, DDP-8.3.1-02: never across protection domains. RDMAP-8.1.1-02,
  // SEC-6.1.1-04, DDP-8.2-02, DDP-8.3.1-03: never from another stream when the STag is limited to one. Both scopes:
  // SEC-2.2.5-02. What is denied ends the stream that asked (SEC-6.1.1-01).
  return grant.domain == who.domain && (grant.only_stream == 0 || grant.only_stream == who.stream);
}

// Octet granularity, on every access (SEC-6.2.1-02, DDP-8.3-01, DDP-8.3.1-04), of writes (SEC-6.2.1-01) and reads
// (SEC-6.3.1-01) alike. Nothing here can overflow: differences only.
bool inside(const Grant& grant, std::uint64_t offset, std::uint64_t length) noexcept {
  if (offset < grant.first_offset) return false;
  const std::uint64_t skip = offset - grant.first_offset;
  return skip <= grant.length && length <= grant.length - skip;
}

}  // namespace

std::expected<std::byte*, AccessError> resolve_remote(const Grant& grant, Accessor who, Access needed,
                                                      std::uint64_t offset, std::uint64_t length) {
  if (!associated(grant, who)) return std::unexpected(AccessError::kNotAssociated);
  // DDP-8.3.1-06, RDMAP-8.1.1-05, SEC-2.2.2-02: memory to be written only is not read (SEC-6.3.5-01, SEC-6.3.5-02).
  if (!has(grant.access, needed)) return std::unexpected(AccessError::kAccessRights);
  if (ddp::offset_wraps({offset}, length)) return std::unexpected(AccessError::kOffsetWrap);
  if (!inside(grant, offset, length)) return std::unexpected(AccessError::kBaseOrBounds);
  return grant.start + (offset - grant.first_offset);
}

std::expected<std::byte*, LocalFault> resolve_local(const Grant& grant, Accessor who, Access needed,
                                                    std::uint64_t offset, std::uint64_t length) {
  if (grant.window || !associated(grant, who)) return std::unexpected(LocalFault::kInvalidKey);
  if (!has(grant.access, needed)) return std::unexpected(LocalFault::kAccessRights);
  if (!inside(grant, offset, length)) return std::unexpected(LocalFault::kBaseOrBounds);
  return grant.null ? nullptr : grant.start + (offset - grant.first_offset);
}

}  // namespace weft::verbs::detail
