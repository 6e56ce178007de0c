// SPDX-License-Identifier: Apache-2.0
#include "tools/run/warnings.hpp"

#include "tools/run/program.hpp"

namespace weft::tools::run {
namespace {

constexpr std::size_t kMostInterpreters = 4;  // an interpreter may be a script too; the kernel stops there

// The file, and what runs it where it is a script: the last one is what the dynamic loader sees.
std::vector<Program> chain(const std::string& path) {
  std::vector<Program> programs;
  std::string next = path;
  while (!next.empty() && programs.size() < kMostInterpreters) {
    programs.push_back(inspect(next));
    next = programs.back().interpreter;
  }
  return programs;
}

void warn_about_rights(const Program& program, std::vector<std::string>& out) {
  constexpr const char* kWhy =
      ", so the system's loader ignores LD_LIBRARY_PATH: it runs without weft. Use ld.so.conf.d for it.";
  if (program.changes_user) out.push_back(program.path + " changes its user or group (setuid, setgid)" + kWhy);
  if (program.capabilities) out.push_back(program.path + " has file capabilities" + kWhy);
}

void warn_about_libraries(const Program& program, std::vector<std::string>& out) {
  if (program.foreign) {
    out.push_back(program.path + " is for another kind of processor than weft's libraries: it runs without weft.");
  } else if (!program.dynamic) {
    out.push_back(program.path + " is statically linked, so no library can be put in place of another: it runs " +
                  (program.contains_verbs ? "with the verbs that it contains, without weft." : "without weft."));
  } else if (program.contains_verbs) {
    out.push_back(program.path +
                  " seems to contain libibverbs itself (statically linked): that one is used, not weft.");
  }
  if (!program.rpath.empty()) {
    out.push_back(program.path + " has a DT_RPATH (" + program.rpath +
                  "), which is searched before LD_LIBRARY_PATH: a libibverbs.so.1 or librdmacm.so.1 in there is used, "
                  "not weft.");
  }
}

}  // namespace

std::vector<std::string> warnings_about(const std::string& path) {
  std::vector<std::string> out;
  for (const Program& program : chain(path)) {
    warn_about_rights(program, out);
    if (program.elf) warn_about_libraries(program, out);
  }
  return out;
}

std::vector<std::string> notes_about(const std::string& path) {
  const Program program = chain(path).back();
  if (!program.readable) return {program.path + " cannot be read, so weft does not know what it will load."};
  if (!program.elf || !program.dynamic || program.needs_verbs() || program.contains_verbs) return {};
  if (program.loads_later) return {};  // a shell, an interpreter, a user of libfabric: nothing is known
  return {program.path + " needs neither libibverbs.so.1 nor librdmacm.so.1, and seems to load nothing later."};
}

}  // namespace weft::tools::run
