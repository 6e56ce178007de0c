// SPDX-License-Identifier: Apache-2.0
// zstd (RFC 8878) by libzstd. A frame names its window; one that is larger than kMostWindowLog is refused.
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

#include "conformance/capture/decompressor.hpp"

namespace weft::conformance::capture {
namespace {

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

class ZstdDecompressor final : public Decompressor {
 public:
  ZstdDecompressor() {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMostWindowLog);
  }

  std::optional<Fault> unpack(Bytes& in, MutableBytes& out, bool) override {
    do {
      ZSTD_inBuffer from{in.data(), in.size(), 0};
      ZSTD_outBuffer to{out.data(), out.size(), 0};
      const std::size_t status = ZSTD_decompressStream(context_.get(), &to, &from);
      if (ZSTD_isError(status) != 0) return fault(status);
      if (from.pos == 0 && to.pos == 0) return std::nullopt;
      complete_ = status == 0;  // a frame ended, and all of it is out
      in = in.subspan(from.pos);
      out = out.subspan(to.pos);
    } while (!in.empty() && !out.empty());
    return std::nullopt;
  }

  [[nodiscard]] bool complete() const noexcept override { return complete_; }
  [[nodiscard]] std::string_view name() const noexcept override { return "zstd"; }

 private:
  [[nodiscard]] static Fault fault(std::size_t status) {
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(status);
    const bool memory = code == ZSTD_error_frameParameter_windowTooLarge || code == ZSTD_error_memory_allocation;
    return {memory ? CaptureError::Kind::kCannotRead : CaptureError::Kind::kDamaged, ZSTD_getErrorName(status)};
  }

  std::unique_ptr<ZSTD_DCtx, FreeZstd> context_{ZSTD_createDCtx()};
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> make_zstd_decompressor() { return std::make_unique<ZstdDecompressor>(); }

}  // namespace weft::conformance::capture
