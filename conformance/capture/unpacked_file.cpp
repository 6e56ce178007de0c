// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/unpacked_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::conformance::capture {
namespace {

using Kind = CaptureError::Kind;

constexpr std::size_t kStreamBuffer = 256 << 10;
constexpr std::size_t kFileBuffer = 64 << 10;

}  // namespace

UnpackedFile::UnpackedFile(const std::string& path, std::string name, const StopSwitch* stop)
    : file_(path, stop), name_(std::move(name)), stream_buffer_(kStreamBuffer), buffer_(kFileBuffer) {}

std::FILE* UnpackedFile::make_stream() {
  const auto read = [](void* self, char* into, std::size_t size) -> ssize_t {
    return static_cast<UnpackedFile*>(self)->read(std::as_writable_bytes(std::span(into, size)));
  };
  std::FILE* stream = ::fopencookie(this, "rb", {.read = read, .write = nullptr, .seek = nullptr, .close = nullptr});
  if (stream != nullptr) std::setvbuf(stream, stream_buffer_.data(), _IOFBF, stream_buffer_.size());
  return stream;
}

std::string_view UnpackedFile::compression() const noexcept {
  return decompressor_ == nullptr ? std::string_view() : decompressor_->name();
}

std::optional<CaptureProgress> UnpackedFile::progress() const {
  if (!file_.size()) return std::nullopt;
  return CaptureProgress{file_.taken(), *file_.size()};
}

ssize_t UnpackedFile::read(MutableBytes into) {
  if (front_.empty()) return read_on(into);
  const Bytes now = front_.first(std::min(front_.size(), into.size()));
  std::ranges::copy(now, into.begin());
  front_ = front_.subspan(now.size());
  return static_cast<ssize_t>(now.size());
}

Bytes UnpackedFile::peek() {
  std::size_t there = 0;
  while (there < peeked_.size()) {
    const ssize_t got = read_on(MutableBytes(peeked_).subspan(there));
    if (got <= 0) break;
    there += static_cast<std::size_t>(got);
  }
  return front_ = Bytes(peeked_).first(there);
}

ssize_t UnpackedFile::read_on(MutableBytes into) {
  if (!looked_ && !look_at_head()) return file_.stopped() ? 0 : -1;
  if (decompressor_ == nullptr) return pass_on(into);
  return trouble_ ? 0 : unpack(into);
}

// Until there are enough octets to tell the compression, or no more.
bool UnpackedFile::look_at_head() {
  while (waiting_.size() < kLongestMagic && !ended_) {
    const std::size_t there = waiting_.size();
    const ssize_t got = file_.read(MutableBytes(buffer_).subspan(there));
    if (got < 0 || file_.stopped()) return false;
    ended_ = got == 0;
    waiting_ = Bytes(buffer_).first(there + static_cast<std::size_t>(got));
  }
  decompressor_ = decompressor_for(waiting_);
  looked_ = true;
  return true;
}

ssize_t UnpackedFile::refill() {
  const ssize_t got = file_.read(buffer_);
  ended_ = got == 0;
  waiting_ = Bytes(buffer_).first(got > 0 ? static_cast<std::size_t>(got) : 0);
  return got;
}

ssize_t UnpackedFile::pass_on(MutableBytes into) {
  if (waiting_.empty()) return file_.read(into);
  const Bytes now = waiting_.first(std::min(waiting_.size(), into.size()));
  std::ranges::copy(now, into.begin());
  waiting_ = waiting_.subspan(now.size());
  return static_cast<ssize_t>(now.size());
}

// What is inside comes first: only then may this wait for a pipe.
ssize_t UnpackedFile::unpack(MutableBytes into) {
  for (;;) {
    if (waiting_.empty() && !more_inside_ && !ended_ && refill() < 0) return -1;
    if (file_.stopped()) return 0;
    MutableBytes room = into;
    const auto fault = decompressor_->unpack(waiting_, room, ended_);
    more_inside_ = room.empty();
    if (fault) note(*fault);
    const std::size_t made = into.size() - room.size();
    if (made != 0 || fault) return static_cast<ssize_t>(made);
    if (!ended_ || !waiting_.empty()) continue;
    if (!decompressor_->complete()) note_cut();
    return 0;
  }
}

void UnpackedFile::note(const Decompressor::Fault& fault) {
  const std::string words = std::string(compression()) + ": " + fault.words;
  trouble_ = fault.kind == Kind::kCannotRead
                 ? CaptureError{fault.kind, name_ + " cannot be unpacked in the memory that is given for it, " +
                                                std::to_string(kMostMemory >> 20) + " MiB (" + words + ")"}
                 : CaptureError{fault.kind, name_ + " is damaged: it cannot be unpacked any further (" + words + ")"};
}

void UnpackedFile::note_cut() {
  trouble_ = CaptureError{Kind::kCutShort, name_ + " is cut short: its compressed octets end too early (" +
                                               std::string(compression()) + ")"};
}

}  // namespace weft::conformance::capture
