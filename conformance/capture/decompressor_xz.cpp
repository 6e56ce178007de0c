// SPDX-License-Identifier: Apache-2.0
// xz by liblzma. A block names its dictionary; one that takes more than kMostMemory is refused.
#include <lzma.h>

#include <new>

#include "conformance/capture/decompressor.hpp"

namespace weft::conformance::capture {
namespace {

std::string_view words_for(lzma_ret status) noexcept {
  switch (status) {
    case LZMA_MEM_ERROR: return "no memory";
    case LZMA_MEMLIMIT_ERROR: return "too large a dictionary";
    case LZMA_OPTIONS_ERROR: return "options that liblzma does not know";
    default: return "corrupt data";
  }
}

class XzDecompressor final : public Decompressor {
 public:
  XzDecompressor() {
    if (lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzDecompressor() override { lzma_end(&stream_); }
  XzDecompressor(const XzDecompressor&) = delete;
  XzDecompressor& operator=(const XzDecompressor&) = delete;

  std::optional<Fault> unpack(Bytes& in, MutableBytes& out, bool last) override {
    if (complete_) return std::nullopt;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    lzma_ret status = LZMA_OK;
    // At the end it has to be asked once more, with nothing, whether that was all.
    do {
      status = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
    } while (status == LZMA_OK && stream_.avail_out != 0 && (last || stream_.avail_in != 0));
    complete_ = status == LZMA_STREAM_END;
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    const bool wants_more = status == LZMA_BUF_ERROR && (in.empty() || out.empty());
    if (complete_ || status == LZMA_OK || wants_more) return std::nullopt;
    const bool memory = status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR;
    return Fault{memory ? CaptureError::Kind::kCannotRead : CaptureError::Kind::kDamaged,
                 std::string(words_for(status))};
  }

  // Known only once unpack() was told what is the last.
  [[nodiscard]] bool complete() const noexcept override { return complete_; }
  [[nodiscard]] std::string_view name() const noexcept override { return "xz"; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> make_xz_decompressor() { return std::make_unique<XzDecompressor>(); }

}  // namespace weft::conformance::capture
