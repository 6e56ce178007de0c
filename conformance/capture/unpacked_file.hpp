// SPDX-License-Identifier: Apache-2.0
// A capture as libpcap reads it, a FILE, whatever it is compressed with. What could be unpacked before damage comes out
// all the same; trouble() tells of the damage then.
#pragma once

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/capture/decompressor.hpp"
#include "conformance/capture/stoppable_file.hpp"

namespace weft::conformance::capture {

class UnpackedFile {
 public:
  // `name` is for sentences. Not open where the file cannot be: errno says why.
  UnpackedFile(const std::string& path, std::string name, const StopSwitch* stop);

  [[nodiscard]] bool is_open() const noexcept { return file_.is_open(); }
  // To be closed with fclose() before this goes. Null, with errno set, without memory.
  [[nodiscard]] std::FILE* make_stream();

  // Octets as read(2) gives them, unpacked; -1 with errno. For who does not use the stream.
  ssize_t read(MutableBytes into);
  // The first octets, at most four, unpacked: they will be read again. Before the first read() only. Fewer at the end,
  // where reading fails and where it is stopped.
  [[nodiscard]] Bytes peek();
  [[nodiscard]] bool stopped() const noexcept { return file_.stopped(); }

  // What is wrong with the compressed octets: to be asked at the end of the stream.
  [[nodiscard]] const std::optional<CaptureError>& trouble() const noexcept { return trouble_; }
  // "gzip", once the first octet was read; empty: it is as it is.
  [[nodiscard]] std::string_view compression() const noexcept;
  // Returns the progress through the file, in octets on disk; nothing for pipes.
  [[nodiscard]] std::optional<CaptureProgress> progress() const;

 private:
  ssize_t read_on(MutableBytes into);
  bool look_at_head();
  ssize_t refill();
  ssize_t pass_on(MutableBytes into);
  ssize_t unpack(MutableBytes into);
  void note(const Decompressor::Fault& fault);
  void note_cut();

  StoppableFile file_;
  std::string name_;
  std::array<std::byte, 4> peeked_{};
  Bytes front_{};  // of these, what read() has not given
  std::vector<char> stream_buffer_;
  std::vector<std::byte> buffer_;  // of octets as they are in the file
  Bytes waiting_{};                // in buffer_
  bool looked_ = false;
  bool ended_ = false;
  bool more_inside_ = false;  // the decompressor may have octets to give without being fed
  std::unique_ptr<Decompressor> decompressor_{};
  std::optional<CaptureError> trouble_{};
};

}  // namespace weft::conformance::capture
