// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/standard_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "common/shown_text.hpp"
#include "transport/system_words.hpp"

namespace weft::tools {
namespace {

std::unexpected<Failure> unwritten(const std::string& where, int error) {
  const std::string why = error != 0 ? ": " + system_words(error) : std::string();
  return std::unexpected(Failure{"cannot write " + where + why + ".", ExitCode::kUnwritten});
}

}  // namespace

std::unexpected<Failure> output_failure(int error) { return unwritten("to standard output", error); }

bool output_has_failed() { return std::ferror(stdout) != 0; }

void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() takes the lowest free number, which is this one.
    static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void survive_size_limits() {
  struct sigaction now{};
  if (::sigaction(SIGXFSZ, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  std::signal(SIGXFSZ, [](int) {});  // child processes would inherit SIG_IGN
}

Outcome<void> print_now(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return {};
  return output_failure(errno);
}

void print_error(std::string_view line) { std::fprintf(stderr, "%s\n", shown_text(line).c_str()); }

Outcome<void> print_line(const std::string& text) { return print_now(text + '\n'); }

Outcome<void> flush_output() {
  const bool failed_before = output_has_failed();
  if (std::fflush(stdout) != 0) return output_failure(errno);
  if (failed_before) return output_failure(0);
  return {};
}

Outcome<void> write_report(const std::string& path, const std::string& text, Readers readers) {
  return path == "-" ? print_now(text) : write_file(path, text, readers);
}

namespace {

// Blocks the signals of an impatient user: the text is short.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t these;
    ::sigemptyset(&these);
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&these, each);
    ::pthread_sigmask(SIG_BLOCK, &these, &before_);
  }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Returns 0 or errno. Only closing may report that a disk is full.
int fill_and_close(int descriptor, const Fill& fill) {
  std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  if (file == nullptr) return errno;
  errno = 0;
  fill(file);
  const bool whole = std::ferror(file) == 0 && std::fflush(file) == 0;
  const int error = errno != 0 ? errno : EIO;
  if (std::fclose(file) != 0 && whole) return errno;
  return whole ? 0 : error;
}

Fill text_of(const std::string& text) {
  return [&text](std::FILE* file) { std::fwrite(text.data(), 1, text.size(), file); };
}

constexpr mode_t kOwnersAlone = 0600;
constexpr mode_t kForAll = 0666;

mode_t mode_of(Readers readers) { return readers == Readers::kOwner ? kOwnersAlone : kForAll; }

int create(const std::string& name, mode_t mode) {
  return ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
}

enum class Links : std::uint8_t { kFollowed, kReplaced };

// The file that `path` names. Empty if it is no regular file and has to be written directly.
std::string file_behind(const std::string& path, Links links) {
  // A descriptor may lead to a file that is open already.
  if (path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") || path.starts_with("/proc/"))
    return {};
  std::error_code ignored;
  const auto there = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) return {};
  if (!std::filesystem::exists(there) || links == Links::kReplaced) return path;
  const auto whole = std::filesystem::canonical(path, ignored);
  return ignored ? path : whole.string();
}

// In the same directory, for rename(2). A process writes one file at a time.
std::string temporary_name(const std::string& path) { return path + ".part-" + std::to_string(::getpid()); }

// A file without write permission is not replaced.
bool is_kept(const std::string& path) { return ::access(path.c_str(), W_OK) != 0 && errno != ENOENT; }

enum class Existing : std::uint8_t { kReplaced, kKept };

Outcome<void> give_name(const std::string& temporary, const std::string& path, Existing existing) {
  const unsigned how = existing == Existing::kKept ? RENAME_NOREPLACE : 0U;
  int done = ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), how);
  if (done != 0 && errno == EINVAL && ::access(path.c_str(), F_OK) != 0)  // NFS has no RENAME_NOREPLACE
    done = ::rename(temporary.c_str(), path.c_str());
  if (done == 0) return {};
  const int error = errno == EINVAL ? EEXIST : errno;
  ::unlink(temporary.c_str());
  return unwritten(path, error);
}

Outcome<void> make_whole(const std::string& path, Existing existing, const Write& write) {
  const std::string temporary = temporary_name(path);
  ::unlink(temporary.c_str());  // left by a killed process with the same id
  auto written = write(temporary);
  if (written) return give_name(temporary, path, existing);
  ::unlink(temporary.c_str());
  return written;
}

std::set<std::string>& written_files() {
  static std::set<std::string> all;
  return all;
}

Outcome<void> replace(const std::string& path, Links links, const Write& write) {
  const std::string target = file_behind(path, links);
  if (!target.empty() && is_kept(target)) return unwritten(path, errno);
  auto written = target.empty() ? write(path) : make_whole(target, Existing::kReplaced, write);
  if (written) written_files().insert(path);
  return written;
}

Outcome<void> write_new_file(const NewFile& file) {
  return make_whole(file.path, Existing::kKept, [&](const std::string& name) -> Outcome<void> {
    const int error = fill_and_close(create(name, mode_of(file.readers)), text_of(file.text));
    return error == 0 ? Outcome<void>() : unwritten(file.path, error);
  });
}

}  // namespace

bool was_written(const std::string& path) { return written_files().contains(path); }

void remove_file(const std::string& path) {
  const std::string target = file_behind(path, Links::kFollowed);
  if (!target.empty() && !is_kept(target)) ::unlink(target.c_str());
}

Outcome<void> replace_file(const std::string& path, const Write& write) {
  return replace(path, Links::kReplaced, write);
}

Outcome<void> fill_file(const std::string& path, Readers readers, const Fill& fill) {
  const Links links = readers == Readers::kOwner ? Links::kReplaced : Links::kFollowed;
  return replace(path, links, [&](const std::string& name) -> Outcome<void> {
    const bool at_once = name == path;
    struct stat before{};
    const bool keep_mode = !at_once && readers == Readers::kAll && ::stat(path.c_str(), &before) == 0;
    const int file = at_once ? ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC) : create(name, mode_of(readers));
    if (file >= 0 && keep_mode) static_cast<void>(::fchmod(file, before.st_mode & 0777U) == 0);  // FAT has no modes
    const int error = fill_and_close(file, fill);
    return error == 0 ? Outcome<void>() : unwritten(path, error);
  });
}

Outcome<void> write_file(const std::string& path, const std::string& text, Readers readers) {
  const SignalsWait here;
  return fill_file(path, readers, text_of(text));
}

Outcome<void> check_writable(const std::string& path) {
  const std::string target = file_behind(path, Links::kFollowed);
  if (is_kept(target.empty() ? path : target)) return unwritten(path, errno);
  const std::string folder = std::filesystem::path(target).parent_path().string();
  if (target.empty() || ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return {};
  return unwritten(path, errno);
}

Outcome<void> write_new_files(const std::vector<NewFile>& files) {
  const SignalsWait here;
  for (std::size_t made = 0; made < files.size(); ++made) {
    auto written = write_new_file(files[made]);
    if (written) continue;
    while (made > 0) ::unlink(files[--made].path.c_str());
    return written;
  }
  return {};
}

}  // namespace weft::tools
