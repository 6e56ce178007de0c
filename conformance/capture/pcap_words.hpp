// SPDX-License-Identifier: Apache-2.0
// What libpcap says, in our words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/capture_reader.hpp"

namespace weft::conformance::capture {

// The link types that packet/ can read: of LINKTYPE_ values, as they stand in files, and of libpcap's DLT_ values,
// which are the same but for raw IP.
[[nodiscard]] std::optional<LinkType> link_type(int dlt) noexcept;
[[nodiscard]] CaptureError unknown_link_type(const std::string& name, int dlt);

// libpcap has no error numbers for files, only sentences.
[[nodiscard]] CaptureError file_error(const std::string& name, std::string_view said);
[[nodiscard]] CaptureError interface_error(const std::string& name, int status, std::string_view said);

}  // namespace weft::conformance::capture
