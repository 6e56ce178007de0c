// SPDX-License-Identifier: Apache-2.0
// Names, values and meanings of fields, each kept once: thousands of FPDUs have the same ones.
#pragma once

#include <cstdint>
#include <optional>
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

/// The description of a field below iWARP; one without sentence and reference where there is none. Both arguments have
/// static storage.
[[nodiscard]] FieldInfo note_on(std::string_view layer, std::string_view name) noexcept;

/// The collection.
class Glossary {
 public:
  /// Takes in a field of conformance::dissect().
  FieldAt add(const conformance::Field& field);
  /// Takes in a field below iWARP by its parts; an empty meaning is none.
  FieldAt add(std::size_t at, std::size_t size, std::string_view layer, std::string_view name, std::string value,
              std::string meaning = {});

  /// What FieldAt::name counts.
  [[nodiscard]] const std::vector<FieldInfo>& names() const noexcept { return names_; }
  /// What FieldAt::value and FieldAt::meaning count.
  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  FieldAt add(std::size_t at, std::size_t size, const FieldInfo& info, std::string value, std::string meaning);
  std::size_t name(const FieldInfo& info);
  std::size_t text(std::string text);

  std::vector<FieldInfo> names_{};
  std::vector<std::string> texts_{};
  std::unordered_map<std::string, std::size_t> known_{};
};

}  // namespace weft::explain
