// SPDX-License-Identifier: Apache-2.0
// Writes JSON into a string, piece by piece. Commas are put where they belong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/wire.hpp"

namespace weft::explain::laboratory {

class JsonWriter {
 public:
  JsonWriter& key(std::string_view name) {
    text(name);
    out_ += ':';
    first_ = true;
    return *this;
  }
  void text(std::string_view value);
  void octets(Bytes value);  // as hexadecimal digits
  void number(std::uint64_t value) { put(std::to_string(value)); }
  void truth(bool value) { put(value ? "true" : "false"); }

  // What `f` writes is inside.
  template <typename F>
  void object(F&& f) {
    inside('{', '}', f);
  }
  template <typename F>
  void array(F&& f) {
    inside('[', ']', f);
  }

  [[nodiscard]] std::string take() noexcept { return std::move(out_); }

 private:
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  void put(std::string_view piece) {
    comma();
    out_ += piece;
  }
  template <typename F>
  void inside(char open, char close, F& f) {
    comma();
    out_ += open;
    first_ = true;
    f();
    out_ += close;
    first_ = false;
  }

  std::string out_{};
  bool first_ = true;
};

}  // namespace weft::explain::laboratory
