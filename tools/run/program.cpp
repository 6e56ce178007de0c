// SPDX-License-Identifier: Apache-2.0
#include "tools/run/program.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string_view>

#include "tools/cli/unique_fd.hpp"
#include "tools/run/elf.hpp"
#include "tools/run/find_program.hpp"

namespace weft::tools::run {
namespace {

// A file's octets, for as long as this lives.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status{};
    if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return;
    size_ = static_cast<std::size_t>(status.st_size);
    start_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (readable()) ::munmap(start_, size_);
  }
  [[nodiscard]] bool readable() const { return start_ != MAP_FAILED; }
  [[nodiscard]] std::string_view octets() const {
    return readable() ? std::string_view(static_cast<const char*>(start_), size_) : std::string_view();
  }

 private:
  void* start_ = MAP_FAILED;
  std::size_t size_ = 0;
};

// On a file system mounted nosuid execve gives a program no other user's rights, nor in a process that gave up gaining
// any.
bool rights_can_change(const std::string& path) {
  struct statvfs filesystem{};
  if (::statvfs(path.c_str(), &filesystem) == 0 && (filesystem.f_flag & ST_NOSUID) != 0) return false;
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

void look_at_rights(Program& program) {
  struct stat status{};
  if (::stat(program.path.c_str(), &status) != 0 || !rights_can_change(program.path)) return;
  const bool user = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid();
  const bool group = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != ::getgid();
  program.changes_user = user || group;
  program.capabilities = ::getuid() != 0 && ::getxattr(program.path.c_str(), "security.capability", nullptr, 0) > 0;
}

// The words of a first line "#!/usr/bin/env -S python3 -u".
std::vector<std::string> words_of_first_line(std::string_view file) {
  std::istringstream line(std::string(file.substr(2, std::min(file.find('\n'), std::size_t{256}) - 2)));
  return {std::istream_iterator<std::string>(line), {}};
}

std::string interpreter_of(std::string_view file) {
  if (!file.starts_with("#!") || file.size() < 3) return {};
  const auto words = words_of_first_line(file);
  if (words.empty()) return {};
  if (!words.front().ends_with("/env")) return words.front();
  const auto named = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return !word.starts_with('-') && !word.contains('=');
  });
  if (named == words.end()) return words.front();
  return find_program(*named).value_or(words.front());
}

bool is_verbs_library(std::string_view name) {
  return name.starts_with("libibverbs.so") || name.starts_with("librdmacm.so");
}

// The names are in the symbol table, or in what a function says of itself. A program that loads the library while it
// runs names it.
bool seems_to_contain_verbs(std::string_view file) {
  return file.contains("ibv_create_qp") && !file.contains("libibverbs.so");
}

// A symbol, as a dynamic symbol table names it.
bool names_symbol(std::string_view file, std::string_view symbol) {
  return file.contains('\0' + std::string(symbol) + '\0');
}

// Libraries that load nothing by themselves; each other one may bring verbs along, now or when it is used.
bool is_runtime_library(std::string_view name) {
  constexpr std::array kRuntime = {"libc.so",  "libm.so",  "libstdc++.so", "libgcc_s.so", "libpthread.so",
                                   "libdl.so", "librt.so", "ld-linux",     "libgomp.so",  "libatomic.so"};
  return std::ranges::any_of(kRuntime, [&](std::string_view one) { return name.starts_with(one); });
}

// Shells, interpreters, launchers (mpirun), and programs that use a library such as libfabric or UCX.
bool seems_to_load_later(const Elf& elf, std::string_view file) {
  constexpr std::array kWays = {"dlopen",  "execl",   "execlp",      "execle",       "execv",  "execve", "execvp",
                                "execvpe", "fexecve", "posix_spawn", "posix_spawnp", "system", "popen"};
  return !std::ranges::all_of(elf.needed, is_runtime_library) ||
         std::ranges::any_of(kWays, [&](std::string_view way) { return names_symbol(file, way); });
}

void take_elf(Program& program, const Elf& elf, std::string_view file) {
  program.elf = true;
  program.foreign = elf.foreign;
  program.dynamic = elf.dynamic;
  program.needed = elf.needed;
  program.rpath = elf.runpath.empty() ? elf.rpath : "";
  program.contains_verbs = !elf.foreign && !program.needs_verbs() && seems_to_contain_verbs(file);
  program.loads_later = !elf.foreign && seems_to_load_later(elf, file);
}

}  // namespace

bool Program::needs_verbs() const { return std::ranges::any_of(needed, is_verbs_library); }

Program inspect(const std::string& path) {
  Program program{.path = path};
  const MappedFile file(path);
  program.readable = file.readable();
  program.interpreter = interpreter_of(file.octets());
  if (program.interpreter.empty()) look_at_rights(program);  // a script's own rights do not count
  if (const auto elf = read_elf(file.octets())) take_elf(program, *elf, file.octets());
  return program;
}

}  // namespace weft::tools::run
