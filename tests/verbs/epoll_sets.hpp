// SPDX-License-Identifier: Apache-2.0
// Which threads are woken for which socket, read from the kernel: /proc/self/fdinfo lists what an epoll set watches,
// and for what.
#pragma once

#include <sys/epoll.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace weft::verbs::test {

inline bool is_socket(int descriptor) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
  return target.string().starts_with("socket:");
}

// Sockets that wake a thread that sleeps in this set when `event` comes. Listeners, the edge-triggered ones, are no
// connections.
inline int sockets_watched_in(const std::filesystem::path& set, unsigned event) {
  std::ifstream file(set);
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, events_name;
    int descriptor = 0;
    unsigned events = 0;
    words >> name >> descriptor >> events_name >> std::hex >> events;
    const bool watched = (events & event) != 0 && (events & EPOLLET) == 0;
    if (name == "tfd:" && watched && is_socket(descriptor)) ++count;
  }
  return count;
}

// By the sets' descriptors.
inline std::map<std::string, int> epoll_sets(unsigned event = EPOLLIN) {
  std::map<std::string, int> result;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::error_code error;
    const std::string number = entry.path().filename();
    const auto target = std::filesystem::read_symlink("/proc/self/fd/" + number, error);
    if (target.string().contains("eventpoll")) result[number] = sockets_watched_in(entry.path(), event);
  }
  return result;
}

}  // namespace weft::verbs::test
