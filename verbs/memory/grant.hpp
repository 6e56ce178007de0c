// SPDX-License-Identifier: Apache-2.0
// The access that an STag grants, and the checks of every access. Pure functions: no locks, no tables, no access to the
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include "ddp/placement.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

// The stream that asks. It is known by its queue pair's identity, which is never used again.
struct Accessor {
  std::uint32_t domain{};
  std::uint64_t stream{};
};

struct Grant {
  std::byte* start{};
  std::uint64_t length{};
  std::uint64_t first_offset{};  // tagged offset of *start
  Access access{};
  std::uint32_t domain{};
  std::uint64_t only_stream{};  // 0: any stream of the domain
  bool window{};                // no lkey: windows give remote access alone
  bool null{};                  // no memory: local reads find zeros, local writes are dropped; `start` is null
};

// The address of `length` octets at `offset`, after the checks of a tagged access in the order of ddp::AccessError:
// association, rights, wrap, bounds. That the STag is valid was checked when the grant was looked up.
[[nodiscard]] std::expected<std::byte*, ddp::AccessError> resolve_remote(const Grant& grant, Accessor who,
                                                                         Access needed, std::uint64_t offset,
                                                                         std::uint64_t length);

// The same for the local side's own scatter and gather lists. A null pointer: of a null region.
[[nodiscard]] std::expected<std::byte*, ddp::LocalFault> resolve_local(const Grant& grant, Accessor who, Access needed,
                                                                       std::uint64_t offset, std::uint64_t length);

}  // namespace weft::verbs::detail
