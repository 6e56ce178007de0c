// SPDX-License-Identifier: Apache-2.0
// Each group of rules shows its table here; rule.cpp makes all_rules() of them.
#pragma once

#include <span>

#include "conformance/rule.hpp"

namespace weft::conformance {

[[nodiscard]] std::span<const Rule* const> startup_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> startup_order_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> startup_missing_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> negotiation_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> rtr_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> fpdu_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> crc_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> marker_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> alignment_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> ending_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> ddp_header_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> queue_order_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> tagged_order_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> rdmap_header_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> read_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> atomic_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> terminate_rules() noexcept;
[[nodiscard]] std::span<const Rule* const> immediate_rules() noexcept;

}  // namespace weft::conformance
