// SPDX-License-Identifier: Apache-2.0
// The page that explains a connection octet by octet: one HTML file that needs nothing else.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string_view>

namespace weft::explain {

/// Writes the page.
///
/// @param out             where to; the caller looks at its state afterwards.
/// @param model_json      the model, a JSON text in UTF-8. Its strings cannot end the script that carries them.
/// @param laboratory_wasm the protocol core as a WebAssembly module. When it is empty, the page says that this build
///                        has no laboratory, and why.
void write_page(std::ostream& out, std::string_view model_json, std::span<const std::byte> laboratory_wasm);

}  // namespace weft::explain
