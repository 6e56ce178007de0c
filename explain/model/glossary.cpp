// SPDX-License-Identifier: Apache-2.0
#include "explain/model/glossary.hpp"

#include <algorithm>
#include <utility>

namespace weft::explain {

FieldAt Glossary::add(const conformance::Field& field) {
  return add(field.at, field.size, field.name.layer, field.name.name, field.value, field.meaning);
}

FieldAt Glossary::add(std::size_t at, std::size_t size, std::string_view layer, std::string_view name,
                      std::string value, std::string meaning) {
  FieldAt field{at, size, this->name(layer, name), text(std::move(value)), {}};
  if (!meaning.empty()) field.meaning = text(std::move(meaning));
  return field;
}

// There are some sixty of them.
std::size_t Glossary::name(std::string_view layer, std::string_view name) {
  const auto found =
      std::ranges::find_if(names_, [&](const TermNote& note) { return note.layer == layer && note.name == name; });
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  names_.push_back(note_on(layer, name));
  return names_.size() - 1;
}

std::size_t Glossary::text(std::string text) {
  const auto [entry, fresh] = known_.try_emplace(std::move(text), texts_.size());
  if (fresh) texts_.push_back(entry->first);
  return entry->second;
}

}  // namespace weft::explain
