// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/compressed_octets.hpp"

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace weft::conformance::testing {
namespace {

constexpr std::size_t kRoom = 4096;  // beyond the octets themselves: enough for all that the three add

Octets shortened(Octets octets, std::size_t size) {
  octets.resize(size);
  return octets;
}

}  // namespace

Octets gzip(const Octets& plain) {
  Octets packed(plain.size() + kRoom);
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  const std::size_t size = stream.total_out;
  deflateEnd(&stream);
  return shortened(std::move(packed), size);
}

Octets zstd(const Octets& plain, int window_log) {
  Octets packed(plain.size() + kRoom);
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  if (window_log != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  // As a stream of unknown length: a frame that knows it names no window larger than itself.
  ZSTD_inBuffer in{plain.data(), plain.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  EXPECT_EQ(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush)), 0U);
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0U);
  ZSTD_freeCCtx(context);
  return shortened(std::move(packed), out.pos);
}

Octets xz(const Octets& plain, std::uint32_t dictionary) {
  Octets packed(plain.size() + kRoom);
  lzma_options_lzma options{};
  EXPECT_EQ(lzma_lzma_preset(&options, 0), 0);
  options.dict_size = dictionary;
  const lzma_filter filters[]{{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::size_t size = 0;
  EXPECT_EQ(lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters), LZMA_CHECK_CRC64, nullptr,
                                      reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size(),
                                      reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()),
            LZMA_OK);
  return shortened(std::move(packed), size);
}

}  // namespace weft::conformance::testing
