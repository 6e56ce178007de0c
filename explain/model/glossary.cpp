// SPDX-License-Identifier: Apache-2.0
#include "explain/model/glossary.hpp"

#include <algorithm>
#include <utility>

namespace weft::explain {

FieldAt Glossary::add(const conformance::Field& field) {
  return add(field.at, field.size, *field.info, field.value, field.meaning);
}

FieldAt Glossary::add(std::size_t at, std::size_t size, std::string_view layer, std::string_view name,
                      std::string value, std::string meaning) {
  return add(at, size, note_on(layer, name), std::move(value), std::move(meaning));
}

FieldAt Glossary::add(std::size_t at, std::size_t size, const FieldInfo& info, std::string value, std::string meaning) {
  FieldAt field{at, size, name(info), text(std::move(value)), {}};
  if (!meaning.empty()) field.meaning = text(std::move(meaning));
  return field;
}

// There are some eighty of them. Two fields may have one name, which their sentences tell apart.
std::size_t Glossary::name(const FieldInfo& info) {
  const auto found = std::ranges::find_if(names_, [&](const FieldInfo& known) {
    return known.layer == info.layer && known.name == info.name && known.sentence == info.sentence;
  });
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  names_.push_back(info);
  return names_.size() - 1;
}

std::size_t Glossary::text(std::string text) {
  const auto [entry, fresh] = known_.try_emplace(std::move(text), texts_.size());
  if (fresh) texts_.push_back(entry->first);
  return entry->second;
}

}  // namespace weft::explain
