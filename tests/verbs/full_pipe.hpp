// SPDX-License-Identifier: Apache-2.0
// A pipe that holds all it can and is not read: the standard error of many a daemon.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft::verbs::test {

class FullPipe {
 public:
  FullPipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("pipe2");
    reader_ = ends[0];
    writer_ = ends[1];
    const std::string filling(4096, '.');
    while (::write(writer_, filling.data(), filling.size()) > 0) filled_ += filling.size();
    while (::write(writer_, ".", 1) > 0) ++filled_;
    ::fcntl(writer_, F_SETFL, 0);  // a write now waits
  }
  ~FullPipe() {
    ::close(reader_);
    ::close(writer_);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  [[nodiscard]] int writer() const noexcept { return writer_; }

  // Takes a page out and waits until the pipe is full again: its writer has begun to write, and waits.
  void let_in_a_page() {
    std::array<char, 4096> page{};
    if (::read(reader_, page.data(), page.size()) != static_cast<ssize_t>(page.size()))
      throw std::runtime_error("no page of filling");
    const std::size_t full = std::exchange(filled_, filled_ - page.size());
    for (int octets = 0; static_cast<std::size_t>(octets) != full; ::usleep(1000)) {
      if (::ioctl(reader_, FIONREAD, &octets) != 0) throw std::runtime_error("FIONREAD");
    }
  }

  // What was written after the filling and what was read before, up to and with `last`.
  [[nodiscard]] std::string read_up_to(const std::string& last) {
    ::fcntl(reader_, F_SETFL, 0);
    std::string all;
    std::array<char, 4096> some{};
    while (all.size() <= filled_ || all.find(last, filled_) == std::string::npos) {
      const auto count = ::read(reader_, some.data(), some.size());
      if (count <= 0) break;
      all.append(some.data(), static_cast<std::size_t>(count));
    }
    return all.substr(std::min(std::exchange(filled_, 0), all.size()));
  }

 private:
  int reader_ = -1;
  int writer_ = -1;
  std::size_t filled_ = 0;
};

}  // namespace weft::verbs::test
