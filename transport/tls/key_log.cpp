// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/key_log.hpp"

#include <openssl/ssl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "transport/cancellation.hpp"
#include "transport/output_file.hpp"
#include "transport/size_limit.hpp"

namespace weft::transport::tls {
namespace {

// A program that closes descriptors that it does not know may get this number for another file: so the file is known by
// its inode.
class KeyLogFile {
 public:
  explicit KeyLogFile(int descriptor) noexcept : descriptor_(descriptor) { ::fstat(descriptor, &file_); }
  ~KeyLogFile() {
    if (is_still_ours()) ::close(descriptor_);
  }
  KeyLogFile(const KeyLogFile&) = delete;
  KeyLogFile& operator=(const KeyLogFile&) = delete;

  // One line with one write, so that the lines of several processes do not mix.
  void append(const char* line) const noexcept {
    const NoCancellation here;
    const SizeLimitIsAnError limited;
    if (!is_still_ours()) return;
    char newline = '\n';
    const std::array<iovec, 2> pieces{{{const_cast<char*>(line), std::strlen(line)}, {&newline, 1}}};
    [[maybe_unused]] const auto written = ::writev(descriptor_, pieces.data(), static_cast<int>(pieces.size()));
  }

 private:
  [[nodiscard]] bool is_still_ours() const noexcept {
    struct stat now{};
    return ::fstat(descriptor_, &now) == 0 && now.st_dev == file_.st_dev && now.st_ino == file_.st_ino;
  }

  const int descriptor_;
  struct stat file_{};
};

void free_file(void*, void* file, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<KeyLogFile*>(file); }

int place_of_file() noexcept {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_file);
  return index;
}

void append(const SSL* ssl, const char* line) {
  const auto* const file = static_cast<const KeyLogFile*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), place_of_file()));
  if (file != nullptr) file->append(line);
}

struct Complaint {
  std::mutex mutex{};
  std::string text{};
  bool taken = false;
};

// Never destroyed: connections may open while exit() runs.
Complaint& complaint() {
  static auto* const one = new Complaint;
  return *one;
}

void complain(std::string text) {
  const std::lock_guard lock(complaint().mutex);
  if (complaint().text == text) return;
  complaint().text = std::move(text);
  complaint().taken = false;
}

}  // namespace

// Without memory no secrets are written.
void log_keys(SSL_CTX& context) noexcept {
  const char* const path = ::secure_getenv("SSLKEYLOGFILE");
  if (path == nullptr || *path == '\0') return;
  try {
    const auto opened = open_output(path, {.content = OutputRules::Content::kAppended, .regular_only = true});
    if (!opened) return complain(std::string("cannot write ") + path + ": " + opened.error().words());
    auto file = std::unique_ptr<KeyLogFile>(new (std::nothrow) KeyLogFile(*opened));
    if (!file) return static_cast<void>(::close(*opened));
    if (SSL_CTX_set_ex_data(&context, place_of_file(), file.get()) != 1) return;
    static_cast<void>(file.release());
    SSL_CTX_set_keylog_callback(&context, append);
  } catch (const std::bad_alloc&) {
  }
}

std::optional<std::string> take_key_log_complaint() {
  const std::lock_guard lock(complaint().mutex);
  if (complaint().text.empty() || std::exchange(complaint().taken, true)) return std::nullopt;
  return complaint().text;
}

}  // namespace weft::transport::tls
