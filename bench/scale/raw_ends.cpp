// SPDX-License-Identifier: Apache-2.0
#include "bench/scale/raw_ends.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>

namespace weft::scale {

namespace {

constexpr std::size_t kReadOctets = 256 * 1024;  // as weft reads
constexpr std::size_t kWriteOctets = 256 * 1024;
constexpr int kMaxEvents = 64;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int open_socket() {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  need(made >= 0, "socket");
  return made;
}

void watch(int events, int descriptor, std::uint32_t what) {
  epoll_event event{.events = what, .data = {.fd = descriptor}};
  need(epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event) == 0, "epoll_ctl");
}

}  // namespace

RawServer::RawServer(Figures& figures, Talk talk)
    : events_(epoll_create1(EPOLL_CLOEXEC)), listening_(open_socket()), talk_(talk) {
  octets_.resize(kReadOctets);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  need(bind(listening_, reinterpret_cast<sockaddr*>(&address), length) == 0, "bind");
  need(listen(listening_, 1024) == 0, "listen");
  need(getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &length) == 0, "getsockname");
  figures.port = ntohs(address.sin_port);
  watch(events_, listening_, EPOLLIN);
}

void RawServer::serve(const Line& line) {
  watch(events_, line.descriptor(), EPOLLIN);
  for (;;) {
    std::array<epoll_event, kMaxEvents> ready;
    const int count = epoll_wait(events_, ready.data(), kMaxEvents, -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = ready[static_cast<std::size_t>(i)].data.fd;
      if (descriptor == line.descriptor()) return line.hear();
      if (descriptor == listening_) accept_all();
      if (descriptor != listening_) read_some(descriptor);
    }
  }
}

void RawServer::accept_all() {
  for (;;) {
    const int accepted = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted < 0) return;
    const int on = 1;
    setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(events_, accepted, EPOLLIN);
  }
}

void RawServer::read_some(int descriptor) {
  const ssize_t got = recv(descriptor, octets_.data(), octets_.size(), 0);
  if (got == 0) close(descriptor);
  if (got > 0 && talk_ == Talk::kOctets) need(send(descriptor, octets_.data(), 1, MSG_NOSIGNAL) == 1, "send");
}

RawClient::RawClient(const Figures& figures, Talk talk)
    : events_(epoll_create1(EPOLL_CLOEXEC)), port_(figures.port), talk_(talk) {}

int RawClient::begin() {
  const int made = open_socket();
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const sockaddr_in address = loopback(port_);
  const int result = ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  need(result == 0 || errno == EINPROGRESS, "connect");
  watch(events_, made, EPOLLOUT);
  return made;
}

bool RawClient::talk_on(int descriptor, std::uint32_t what) {
  char octet = 0;
  if ((what & EPOLLOUT) != 0) {
    need(send(descriptor, &octet, 1, MSG_NOSIGNAL) == 1, "send");
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    need(epoll_ctl(events_, EPOLL_CTL_MOD, descriptor, &event) == 0, "epoll_ctl");
    return true;
  }
  if (recv(descriptor, &octet, 1, 0) != 1) return false;
  need(shutdown(descriptor, SHUT_WR) == 0, "shutdown");
  return true;
}

void RawClient::connect(std::size_t count, std::size_t in_flight, bool keep) {
  std::size_t started = 0;
  for (std::size_t finished = 0; finished < count;) {
    while (started < count && started - finished < in_flight) static_cast<void>(begin()), ++started;
    std::array<epoll_event, kMaxEvents> ready;
    const int found = epoll_wait(events_, ready.data(), kMaxEvents, -1);
    for (int i = 0; i < found; ++i) {
      const int descriptor = ready[static_cast<std::size_t>(i)].data.fd;
      if (talk_ == Talk::kOctets && talk_on(descriptor, ready[static_cast<std::size_t>(i)].events)) continue;
      ++finished;
      if (!keep) {
        close(descriptor);
        continue;
      }
      need(epoll_ctl(events_, EPOLL_CTL_DEL, descriptor, nullptr) == 0, "epoll_ctl");
      connections_.push_back(descriptor);
    }
  }
}

double RawClient::write_for(std::size_t active, double seconds) {
  const std::vector<char> octets(kWriteOctets);
  for (std::size_t i = 0; i < active; ++i) watch(events_, connections_[i], EPOLLOUT);
  double sent = 0, begun = 0;
  const double warm = now() + seconds / 2;
  while (now() < warm + seconds) {
    std::array<epoll_event, kMaxEvents> ready;
    const int found = epoll_wait(events_, ready.data(), kMaxEvents, 100);
    for (int i = 0; i < found; ++i) {
      const ssize_t put = send(ready[static_cast<std::size_t>(i)].data.fd, octets.data(), octets.size(), MSG_NOSIGNAL);
      if (put > 0) sent += static_cast<double>(put);
    }
    if (begun == 0 && now() > warm) begun = now(), sent = 0;
  }
  return sent / (now() - begun);
}

}  // namespace weft::scale
