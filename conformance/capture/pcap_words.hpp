// SPDX-License-Identifier: Apache-2.0
// What libpcap says, in our words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/capture_reader.hpp"

namespace weft::conformance::capture {

// The link types that link_layer.hpp can read.
[[nodiscard]] std::optional<LinkType> link_type(int dlt) noexcept;
// The same of LINKTYPE_ values, as they stand in files: libpcap's DLT_ values, but for raw IP.
[[nodiscard]] std::optional<LinkType> link_type_of_file(std::uint16_t type) noexcept;
[[nodiscard]] CaptureError unknown_link_type(const std::string& name, int dlt);

// libpcap has no error numbers for files, only sentences.
[[nodiscard]] CaptureError file_error(const std::string& name, std::string_view said);
[[nodiscard]] CaptureError interface_error(const std::string& name, int status, std::string_view said);

}  // namespace weft::conformance::capture
