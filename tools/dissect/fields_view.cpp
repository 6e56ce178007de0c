// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/fields_view.hpp"

#include "conformance/words.hpp"
#include "rdmap/control.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::tools::dissect {
namespace {

bool is_terminate(const conformance::FpduSeen& fpdu) {
  if (ddp::find_error(fpdu.ulpdu)) return false;
  return rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(fpdu.ulpdu)) ==
         std::to_underlying(rdmap::Opcode::kTerminate);
}

}  // namespace

void FieldsView::take(const Watched& watched, const conformance::Seen& seen) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { on(watched, one); }) on(watched, one);
      },
      seen);
}

void FieldsView::on(const Watched& watched, const conformance::StartupSeen& startup) {
  if (wanted_.piece(watched, startup.piece))
    put(Frame{watched.connection, startup.piece, "startup frame", conformance::dissect(startup), false});
}

void FieldsView::on(const Watched& watched, const conformance::FpduSeen& fpdu) {
  if (!wanted_.piece(watched, fpdu.piece)) return;
  put(Frame{watched.connection, fpdu.piece, "FPDU " + std::to_string(fpdu.number), conformance::dissect(fpdu),
            is_terminate(fpdu)});
}

void FieldsView::on(const Watched& watched, const conformance::LostSeen& lost) {
  put({watched.connection, lost.from, lost.place.packet, words_of(lost).front()});
}

void FieldsView::on(const Watched& watched, const conformance::ResumedSeen& resumed) {
  put({watched.connection, resumed.from, resumed.place.packet, words_of(resumed).front()});
}

void FieldsView::put(const Frame& frame) {
  if (style_.json) return print_(json_of(frame));
  put_text(text_of(frame, style_.palette, style_.explain));
}

void FieldsView::put(const Remark& remark) {
  if (!wanted_.remark(remark.packet)) return;
  if (style_.json) return print_(json_of(remark));
  put_text(text_of(remark, style_.palette));
}

void FieldsView::put_text(const std::string& text) {
  if (!headed_) print_(fields_heading(style_.palette));
  headed_ = true;
  print_(text);
}

}  // namespace weft::tools::dissect
