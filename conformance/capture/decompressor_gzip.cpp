// SPDX-License-Identifier: Apache-2.0
// gzip (RFC 1952) by zlib. Its window has 32 KiB, whatever the file says.
#include <zlib.h>

#include <algorithm>
#include <climits>
#include <new>

#include "conformance/capture/decompressor.hpp"

namespace weft::conformance::capture {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib's way to ask for gzip's header and checksum

uInt at_most_uint(std::size_t size) noexcept { return static_cast<uInt>(std::min<std::size_t>(size, UINT_MAX)); }

class GzipDecompressor final : public Decompressor {
 public:
  GzipDecompressor() {
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  std::optional<Fault> unpack(Bytes& in, MutableBytes& out, bool) override {
    while (!out.empty()) {
      const bool fed = !in.empty();
      if (complete_ && !fed) break;
      const int status = step(in, out);
      if (status == Z_BUF_ERROR && !fed) break;  // all that it had is out
      complete_ = status == Z_STREAM_END;
      if (complete_) inflateReset(&stream_);  // another member may follow
      if (status != Z_OK && !complete_) return fault(status);
    }
    return std::nullopt;
  }

  [[nodiscard]] bool complete() const noexcept override { return complete_; }
  [[nodiscard]] std::string_view name() const noexcept override { return "gzip"; }

 private:
  int step(Bytes& in, MutableBytes& out) {
    // zlib takes no pointer to const, and writes nothing there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = at_most_uint(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = at_most_uint(out.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    in = in.subspan(static_cast<std::size_t>(reinterpret_cast<const std::byte*>(stream_.next_in) - in.data()));
    out = out.subspan(static_cast<std::size_t>(reinterpret_cast<std::byte*>(stream_.next_out) - out.data()));
    return status;
  }
  [[nodiscard]] Fault fault(int status) const {
    const auto kind = status == Z_MEM_ERROR ? CaptureError::Kind::kCannotRead : CaptureError::Kind::kDamaged;
    return {kind, stream_.msg != nullptr ? stream_.msg : zError(status)};
  }

  z_stream stream_{};
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> make_gzip_decompressor() { return std::make_unique<GzipDecompressor>(); }

}  // namespace weft::conformance::capture
