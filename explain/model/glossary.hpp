// SPDX-License-Identifier: Apache-2.0
// Names, values and meanings of fields, each kept once: thousands of FPDUs have the same ones.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "conformance/dissection.hpp"

namespace weft::explain {

/// One field, by its indices into the glossary.
struct FieldAt {
  std::size_t at{};                      ///< where it begins
  std::size_t size{};                    ///< octets; 0 for some bits of the field before
  std::size_t name{};                    ///< an index into Glossary::names()
  std::size_t value{};                   ///< an index into Glossary::texts()
  std::optional<std::size_t> meaning{};  ///< another one; absent when the value says it all
};

/// What is known of a field wherever it stands.
struct TermNote {
  std::string_view layer{};                     ///< "ethernet", "link", "ip", "tcp", "mpa", "ddp", "rdmap", "ulp"
  std::string_view name{};                      ///< as the RFC's figure has it
  std::span<const std::string_view> clauses{};  ///< ids of docs/clauses that ask something of it
  std::string_view reference{};                 ///< "RFC 5041 section 4.2"
};

/// The note on a field; one without clauses and reference where there is none.
[[nodiscard]] TermNote note_on(std::string_view layer, std::string_view name) noexcept;

/// The collection.
class Glossary {
 public:
  /// Takes in a field of conformance::dissect().
  FieldAt add(const conformance::Field& field);
  /// Takes in a field by its parts; an empty meaning is none.
  FieldAt add(std::size_t at, std::size_t size, std::string_view layer, std::string_view name, std::string value,
              std::string meaning = {});

  /// What FieldAt::name counts.
  [[nodiscard]] const std::vector<TermNote>& names() const noexcept { return names_; }
  /// What FieldAt::value and FieldAt::meaning count.
  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::size_t name(std::string_view layer, std::string_view name);
  std::size_t text(std::string text);

  std::vector<TermNote> names_{};
  std::vector<std::string> texts_{};
  std::unordered_map<std::string, std::size_t> known_{};
};

}  // namespace weft::explain
