// SPDX-License-Identifier: Apache-2.0
#include "compat/objects/report.hpp"

#include <cstring>
#include <string>

#include "verbs/options.hpp"

namespace weft::compat {

namespace {

void tell(std::string_view call, int error, std::string_view reason, verbs::LogLevel level = verbs::LogLevel::kInfo) {
  if (!verbs::log_shows(level)) return;
  std::string line(call);
  const char* const name = strerrorname_np(error);
  line.append(": ").append(reason).append(" [").append(name != nullptr ? name : "unknown errno").append("]");
  verbs::log_line(level, line);
}

}  // namespace

int refused(std::string_view call, int error, std::string_view reason) noexcept {
  try {
    tell(call, error, reason);
  } catch (...) {  // no memory for a line: the errno says what it can
  }
  return errno = error;
}

int refused_for_good(std::string_view call, int error, std::string_view reason) noexcept {
  try {
    tell(call, error, reason, verbs::LogLevel::kWarn);
  } catch (...) {
  }
  return errno = error;
}

int refused(std::string_view call, const verbs::Error& error) noexcept {
  try {
    tell(call, error.to_errno(), error.message());
  } catch (...) {
  }
  return errno = error.to_errno();
}

std::nullptr_t refused_null(std::string_view call, const verbs::Error& error) noexcept {
  refused(call, error);
  return nullptr;
}

std::nullptr_t refused_null(std::string_view call, int error, std::string_view reason) noexcept {
  refused(call, error, reason);
  return nullptr;
}

int refused_minus_one(std::string_view call, const verbs::Error& error) noexcept {
  refused(call, error);
  return -1;
}

int refused_minus_one(std::string_view call, int error, std::string_view reason) noexcept {
  refused(call, error, reason);
  return -1;
}

}  // namespace weft::compat
