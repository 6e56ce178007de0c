// SPDX-License-Identifier: Apache-2.0
/// @file
/// Access to registered memory: rights, what an STag grants, and the checks of every access (RFC 5040 section 7.2,
/// RFC 5041 section 7.1). Pure functions: no tables, no locks, no access to the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include "common/access.hpp"
#include "ddp/placement.hpp"
#include "ddp/tagged.hpp"

namespace weft::rdmap {

using weft::Access;
using weft::kAllAccess;

/// Identifies the stream that accesses memory. Its number is never used again; 0 is no stream.
struct Accessor {
  std::uint32_t domain{};
  Access rights{kAllAccess};  ///< what the peer of the stream may do at most, whatever a grant says
  std::uint64_t stream{};
};

/// Describes what an STag grants.
struct Grant {
  std::byte* start{};
  std::uint64_t length{};        ///< length in octets
  std::uint64_t first_offset{};  ///< tagged offset of *start
  Access access{};
  std::uint32_t domain{};
  std::uint64_t only_stream{};  ///< 0: any stream of the domain
  bool window{};                ///< no lkey: windows give remote access alone
  bool null{};                  ///< no memory: local reads find zeros, local writes are dropped; `start` is null
};

namespace detail {

constexpr bool associated(const Grant& grant, Accessor who) noexcept {
  // RDMAP-8.1.1-01, SEC-6.1.1-03, DDP-8.2-01, DDP-8.3.1-02: never across protection domains. RDMAP-8.1.1-02,
  // SEC-6.1.1-04, DDP-8.2-02, DDP-8.3.1-03: never from another stream when the STag is limited to one. Both scopes:
  // SEC-2.2.5-02. What is denied ends the stream that asked (SEC-6.1.1-01).
  return grant.domain == who.domain && (grant.only_stream == 0 || grant.only_stream == who.stream);
}

// Octet granularity, on every access (SEC-6.2.1-02, DDP-8.3-01, DDP-8.3.1-04), of writes (SEC-6.2.1-01) and reads
// (SEC-6.3.1-01) alike. Nothing here can overflow: differences only.
constexpr bool inside(const Grant& grant, std::uint64_t offset, std::uint64_t length) noexcept {
  if (offset < grant.first_offset) return false;
  const std::uint64_t skip = offset - grant.first_offset;
  return skip <= grant.length && length <= grant.length - skip;
}

}  // namespace detail

/// Checks a tagged access to `length` octets at `offset` in the order of ddp::AccessError: association, rights, wrap,
/// bounds. The caller has looked up the grant and so checked that the STag is valid.
/// Returns the distance of the first octet from `start`.
[[nodiscard]] constexpr std::expected<std::uint64_t, ddp::AccessError> check_remote(const Grant& grant, Accessor who,
                                                                                    Access needed, std::uint64_t offset,
                                                                                    std::uint64_t length) noexcept {
  if (!detail::associated(grant, who)) return std::unexpected(ddp::AccessError::kNotAssociated);
  // DDP-8.3.1-06, RDMAP-8.1.1-05, SEC-2.2.2-02: memory to be written only is not read (SEC-6.3.5-01, SEC-6.3.5-02).
  if (!has(grant.access & who.rights, needed)) return std::unexpected(ddp::AccessError::kAccessRights);
  if (ddp::offset_wraps({offset}, length)) return std::unexpected(ddp::AccessError::kOffsetWrap);
  if (!detail::inside(grant, offset, length)) return std::unexpected(ddp::AccessError::kBaseOrBounds);
  return offset - grant.first_offset;
}

/// Checks an access of the local side's own scatter and gather lists. Returns the distance of the first octet from
/// `start`.
[[nodiscard]] constexpr std::expected<std::uint64_t, ddp::LocalFault> check_local(const Grant& grant, Accessor who,
                                                                                  Access needed, std::uint64_t offset,
                                                                                  std::uint64_t length) noexcept {
  if (grant.window || !detail::associated(grant, who)) return std::unexpected(ddp::LocalFault::kInvalidKey);
  if (!has(grant.access, needed)) return std::unexpected(ddp::LocalFault::kAccessRights);
  if (!detail::inside(grant, offset, length)) return std::unexpected(ddp::LocalFault::kBaseOrBounds);
  return offset - grant.first_offset;
}

/// Checks whether the peer of stream `who` may invalidate the STag: it must be of this stream (RDMAP-7.2-07,
/// RDMAP-7.2-08). No peer invalidates a region that several streams may use (RDMAP-8.1.1-07).
[[nodiscard]] constexpr std::expected<void, ddp::AccessError> check_invalidate(const Grant& grant,
                                                                               Accessor who) noexcept {
  if (grant.only_stream == 0 || !detail::associated(grant, who))
    return std::unexpected(ddp::AccessError::kNotAssociated);
  return {};
}

/// Returns the address that check_remote() permits.
[[nodiscard]] constexpr std::expected<std::byte*, ddp::AccessError> resolve_remote(const Grant& grant, Accessor who,
                                                                                   Access needed, std::uint64_t offset,
                                                                                   std::uint64_t length) noexcept {
  const auto skip = check_remote(grant, who, needed, offset, length);
  if (!skip) return std::unexpected(skip.error());
  return grant.start + *skip;
}

/// Returns the address that check_local() permits; null for a null region.
[[nodiscard]] constexpr std::expected<std::byte*, ddp::LocalFault> resolve_local(const Grant& grant, Accessor who,
                                                                                 Access needed, std::uint64_t offset,
                                                                                 std::uint64_t length) noexcept {
  const auto skip = check_local(grant, who, needed, offset, length);
  if (!skip) return std::unexpected(skip.error());
  return grant.null ? nullptr : grant.start + *skip;
}

}  // namespace weft::rdmap
