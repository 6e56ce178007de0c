// SPDX-License-Identifier: Apache-2.0
// The page with its styles and scripts, and with holes for the model and the laboratory (embed.cmake).
#pragma once

#include <span>

namespace weft::explain {

/// The octets of the page as it was built: HTML in UTF-8, without a model.
[[nodiscard]] std::span<const unsigned char> page_octets() noexcept;

}  // namespace weft::explain
