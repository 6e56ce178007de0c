// SPDX-License-Identifier: Apache-2.0
#include "transport/tls/key_log.hpp"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include <sys/uio.h>

#include "transport/cancellation.hpp"

namespace weft::transport::tls {
namespace {

// It opens all connections to its reader: what is not ours alone is not written to.
bool is_ours_alone(int descriptor) noexcept {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) return false;
  return ::fchmod(descriptor, S_IRUSR | S_IWUSR) == 0;
}

// One line with one write, so that the lines of several processes do not mix.
void append(const SSL*, const char* line) {
  const char* const path = ::secure_getenv("SSLKEYLOGFILE");
  if (path == nullptr) return;
  const NoCancellation here;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, S_IRUSR | S_IWUSR);
  if (file < 0) return;
  char newline = '\n';
  const std::array<iovec, 2> pieces{{{const_cast<char*>(line), std::strlen(line)}, {&newline, 1}}};
  if (is_ours_alone(file)) {
    [[maybe_unused]] const auto written = ::writev(file, pieces.data(), static_cast<int>(pieces.size()));
  }
  ::close(file);
}

}  // namespace

void log_keys(SSL_CTX* context) noexcept {
  const char* const path = ::secure_getenv("SSLKEYLOGFILE");
  if (path != nullptr && *path != '\0') SSL_CTX_set_keylog_callback(context, append);
}

}  // namespace weft::transport::tls
