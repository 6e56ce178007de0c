// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "tools/cli/standard_output.hpp"
#include "transport/output_file.hpp"

namespace weft::tools {
namespace {

using transport::OutputRules;
using Content = OutputRules::Content;

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

std::unexpected<Failure> refused(const std::string& path, const std::string& why) {
  return std::unexpected(Failure{"cannot write " + path + ": " + why + ".", ExitCode::kUnwritten});
}

// `name` is opened for the file that is `path` to the user.
Outcome<int> open_for(const std::string& path, const std::string& name, const OutputRules& rules) {
  const auto opened = transport::open_output(name, rules);
  if (opened) return *opened;
  return refused(path, opened.error().words());
}

// A shell may start the reader of a pipe at the same time.
Outcome<int> open_patiently(const std::string& path, const std::string& name, const OutputRules& rules) {
  constexpr int kTries = 100;
  constexpr std::chrono::milliseconds kPause{20};
  std::error_code ignored;
  auto opened = open_for(path, name, rules);
  for (int i = 0; i < kTries && !opened && std::filesystem::is_fifo(name, ignored); ++i) {
    std::this_thread::sleep_for(kPause);
    opened = open_for(path, name, rules);
  }
  return opened;
}

Outcome<void> fill_and_close(const std::string& path, int descriptor, const Fill& fill) {
  std::FILE* const file = ::fdopen(descriptor, "wb");
  if (file == nullptr) {
    const int error = errno;
    ::close(descriptor);
    return output_failure(path, error);
  }
  errno = 0;
  fill(file);
  const bool whole = std::ferror(file) == 0 && std::fflush(file) == 0;
  const int error = errno != 0 ? errno : EIO;
  if (std::fclose(file) != 0 && whole) return output_failure(path, errno);  // perhaps only now the disk is full
  return whole ? Outcome<void>() : output_failure(path, error);
}

Fill text_of(const std::string& text) {
  return [&text](std::FILE* file) { std::fwrite(text.data(), 1, text.size(), file); };
}

OutputRules new_file(Readers readers) { return {.content = Content::kNew, .owner_only = readers == Readers::kOwner}; }

// --- What a path names

enum class Links : std::uint8_t { kFollowed, kReplaced };

struct Target {
  std::string path{};
  bool direct = false;  // no regular file: it is written as it is
};

bool is_link_of_another_user(const std::string& path) {
  struct stat about{};
  const bool link = ::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode);
  return link && about.st_uid != ::geteuid() && about.st_uid != 0;
}

Outcome<Target> find_target(const std::string& path, Links links) {
  if (transport::names_a_descriptor(path)) return Target{path, true};
  if (is_link_of_another_user(path)) return refused(path, "it is a symbolic link of another user");
  std::error_code ignored;
  const auto there = std::filesystem::status(path, ignored);
  const bool direct = std::filesystem::exists(there) && !std::filesystem::is_regular_file(there);
  if (!std::filesystem::exists(there) || (!direct && links == Links::kReplaced)) return Target{path, direct};
  const auto whole = std::filesystem::canonical(path, ignored);
  return Target{ignored ? path : whole.string(), direct};
}

// In the same directory, for rename(2). A process writes one file at a time.
std::string temporary_name(const std::string& path) { return path + ".part-" + std::to_string(::getpid()); }

// A file without write permission is not replaced.
bool is_kept(const std::string& path) { return ::access(path.c_str(), W_OK) != 0 && errno != ENOENT; }

// --- Whole files

enum class Existing : std::uint8_t { kReplaced, kKept };

Outcome<void> give_name(const std::string& temporary, const std::string& path, Existing existing) {
  const unsigned how = existing == Existing::kKept ? RENAME_NOREPLACE : 0U;
  int done = ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), how);
  if (done != 0 && errno == EINVAL && ::access(path.c_str(), F_OK) != 0)  // NFS has no RENAME_NOREPLACE
    done = ::rename(temporary.c_str(), path.c_str());
  if (done == 0) return {};
  const int error = errno == EINVAL ? EEXIST : errno;
  ::unlink(temporary.c_str());
  return output_failure(path, error);
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

Outcome<void> noted(const std::string& path, Outcome<void> written) {
  if (written) written_files().insert(path);
  return written;
}

Outcome<void> replace(const std::string& path, const Target& target, const Write& write) {
  if (is_kept(target.path)) return output_failure(path, errno);
  return make_whole(target.path, Existing::kReplaced, write);
}

Outcome<void> write_new_file(const NewFile& file) {
  return make_whole(file.path, Existing::kKept, [&](const std::string& name) -> Outcome<void> {
    const auto opened = open_for(file.path, name, new_file(file.readers));
    return opened ? fill_and_close(file.path, *opened, text_of(file.text)) : std::unexpected(opened.error());
  });
}

// An existing file keeps its mode where everybody may read it.
Outcome<void> fill_temporary(const std::string& path, const std::string& name, Readers readers, const Fill& fill) {
  struct stat before{};
  const bool keep_mode = readers == Readers::kAll && ::stat(path.c_str(), &before) == 0;
  const auto opened = open_for(path, name, new_file(readers));
  if (!opened) return std::unexpected(opened.error());
  if (keep_mode) static_cast<void>(::fchmod(*opened, before.st_mode & 0777U) == 0);  // FAT has no modes
  return fill_and_close(path, *opened, fill);
}

// Nothing would be left behind if a signal ended the process: none is blocked.
Outcome<void> fill_directly(const std::string& path, const Target& target, Readers readers, const Fill& fill) {
  const auto opened = open_patiently(path, target.path, {.owner_only = readers == Readers::kOwner});
  return opened ? fill_and_close(path, *opened, fill) : std::unexpected(opened.error());
}

enum class Signals : std::uint8_t { kTaken, kWait };

Outcome<void> fill_target(const std::string& path, Readers readers, Signals signals, const Fill& fill) {
  const auto target = find_target(path, readers == Readers::kOwner ? Links::kReplaced : Links::kFollowed);
  if (!target) return std::unexpected(target.error());
  if (target->direct) return noted(path, fill_directly(path, *target, readers, fill));
  std::optional<SignalsWait> here;
  if (signals == Signals::kWait) here.emplace();
  return noted(
      path, replace(path, *target, [&](const std::string& name) { return fill_temporary(path, name, readers, fill); }));
}

}  // namespace

bool was_written(const std::string& path) { return written_files().contains(path); }

void remove_file(const std::string& path) {
  const auto target = find_target(path, Links::kFollowed);
  if (target && !target->direct && !is_kept(target->path)) ::unlink(target->path.c_str());
}

Outcome<void> replace_file(const std::string& path, const Write& write) {
  const auto target = find_target(path, Links::kReplaced);
  if (!target) return std::unexpected(target.error());
  return noted(path, target->direct ? write(target->path) : replace(path, *target, write));
}

Outcome<void> fill_file(const std::string& path, Readers readers, const Fill& fill) {
  return fill_target(path, readers, Signals::kTaken, fill);
}

Outcome<void> write_file(const std::string& path, const std::string& text, Readers readers) {
  return fill_target(path, readers, Signals::kWait, text_of(text));
}

Outcome<void> write_report(const std::string& path, const std::string& text, Readers readers) {
  return path == "-" ? print_now(text) : write_file(path, text, readers);
}

Outcome<void> check_writable(const std::string& path) {
  const auto target = find_target(path, Links::kFollowed);
  if (!target) return std::unexpected(target.error());
  if (is_kept(target->path)) return output_failure(path, errno);
  const std::string folder = std::filesystem::path(target->path).parent_path().string();
  if (target->direct || ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0) return {};
  return output_failure(path, errno);
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
