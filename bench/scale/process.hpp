// SPDX-License-Identifier: Apache-2.0
// Two processes that measure together: fork, meet, leave figures in shared memory. And what one process can ask the
// system about itself.
#pragma once

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace weft::scale {

[[noreturn]] inline void give_up(std::string_view why) {
  std::fprintf(stderr, "scale: %.*s\n", static_cast<int>(why.size()), why.data());
  std::_Exit(1);
}
inline void need(bool fine, const char* what) {
  if (!fine) give_up(std::string(what) + ": " + std::strerror(errno));
}

// What a process holds, in octets. `heap`: what malloc has given out and not got back, in all its arenas, its own
// headers included. `anonymous`: memory of the process's own that is resident.
struct Memory {
  double heap{};
  double anonymous{};
};

// The number after a name such as "Anonymous:", in KiB, as the files of /proc spell it.
inline double kibibytes(const char* file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return std::strtod(line.c_str() + name.size(), nullptr);
  }
  return 0;
}

inline Memory memory_now() {
  const auto heap = mallinfo2();
  return {static_cast<double>(heap.uordblks + heap.hblkhd), kibibytes("/proc/self/smaps_rollup", "Anonymous:") * 1024};
}

struct Work {
  double cpu{};       // seconds, all threads
  double switches{};  // times that a thread went to sleep
};

inline Work work_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_nvcsw)};
}

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Without taking down connections one by one: the system does that.
[[noreturn]] inline void leave() {
  std::fflush(nullptr);
  std::_Exit(0);
}

// Figures that both processes leave for the one that forked them.
struct Figures {
  std::uint16_t port{};
  std::array<Memory, 2> per_connection{};  // client, server
  std::array<Memory, 2> after_use{};       // each connection has carried one message each way
  std::array<Work, 2> idle{};
  std::array<Work, 2> setup{};  // client, server
  double slab = 0;              // of the kernel, octets per connection, both ends
  double rate = 0;              // connections or octets per second
};

// One end of a line between the two.
class Line {
 public:
  explicit Line(int descriptor) : descriptor_(descriptor) {}
  void tell() const { need(write(descriptor_, "x", 1) == 1, "write"); }
  void hear() const {
    char octet = 0;
    if (read(descriptor_, &octet, 1) != 1) std::_Exit(1);  // the other has given up, and said why
  }
  void meet() const { tell(), hear(); }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Runs both in processes of their own, so that each has its own limit of descriptors and a heap of its own.
template <typename Server, typename Client>
Figures run(Server server, Client client) {
  auto* figures =
      static_cast<Figures*>(mmap(nullptr, sizeof(Figures), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  new (figures) Figures();
  std::array<int, 2> ends{};
  need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "socketpair");
  std::array<pid_t, 2> children{};
  for (std::size_t i = 0; i < 2; ++i) {
    children[i] = fork();
    need(children[i] >= 0, "fork");
    if (children[i] != 0) continue;
    close(ends[1 - i]);
    const Line line(ends[i]);
    if (i == 0) server(line, *figures);
    if (i == 1) client(line, *figures);
    leave();
  }
  close(ends[0]), close(ends[1]);
  bool fine = true;
  for (const pid_t child : children) {
    int status = 0;
    need(waitpid(child, &status, 0) == child, "waitpid");
    fine = fine && status == 0;
  }
  if (!fine) give_up("a process failed");
  const Figures result = *figures;
  munmap(figures, sizeof(Figures));
  return result;
}

}  // namespace weft::scale
