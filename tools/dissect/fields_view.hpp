// SPDX-License-Identifier: Apache-2.0
// Prints the fields of the startup frames and FPDUs that are wanted.
#pragma once

#include <functional>
#include <string>

#include "tools/dissect/fields.hpp"
#include "tools/dissect/wanted.hpp"

namespace weft::tools::dissect {

class FieldsView {
 public:
  struct Style {
    Palette palette{};
    bool json{};
    bool explain{};
  };
  using Print = std::function<void(const std::string&)>;

  FieldsView(const Style& style, Wanted& wanted, Print print)
      : style_(style), wanted_(wanted), print_(std::move(print)) {}

  void take(const Watched& watched, const conformance::Seen& seen);

 private:
  void on(const Watched& watched, const conformance::StartupSeen& startup);
  void on(const Watched& watched, const conformance::FpduSeen& fpdu);
  void on(const Watched& watched, const conformance::LostSeen& lost);
  void on(const Watched& watched, const conformance::ResumedSeen& resumed);
  void put(const Frame& frame);
  void put(const Remark& remark);
  void put_text(const std::string& text);

  Style style_;
  Wanted& wanted_;
  Print print_;
  bool headed_ = false;
};

}  // namespace weft::tools::dissect
