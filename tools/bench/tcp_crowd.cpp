// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/tcp_crowd.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <string>

#include "tools/bench/patience.hpp"
#include "tools/cli/pattern.hpp"

namespace weft::tools::bench {
namespace {

std::uint64_t all_at_once(const Options& options, std::uint64_t messages, std::uint64_t /*received*/) {
  return messages * options.size;
}

// The follower's one octet, once it has everything.
std::uint64_t when_complete(const Options& options, std::uint64_t messages, std::uint64_t received) {
  return received == messages * options.size ? 1 : 0;
}

std::uint64_t requests_under_way(const Options& options, std::uint64_t messages, std::uint64_t received) {
  return kRequestSize * std::min(messages, received / options.size + effective_depth(options));
}

std::uint64_t answers(const Options& options, std::uint64_t /*messages*/, std::uint64_t received) {
  return options.size * (received / kRequestSize);
}

// The rest of a message that was begun, and as many more as a list has: at most `octets`.
std::size_t gather(std::span<iovec> pieces, Bytes unit, std::uint64_t sent, std::uint64_t octets) {
  std::size_t count = 0;
  for (std::size_t skip = sent % unit.size(); count < pieces.size() && octets > 0; skip = 0) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(unit.size() - skip, octets));
    pieces[count++] = {const_cast<std::byte*>(unit.data() + skip), length};
    octets -= length;
  }
  return count;
}

}  // namespace

Outcome<std::unique_ptr<Endpoint>> TcpCrowd::create(std::vector<std::unique_ptr<RawStream>> streams,
                                                    const Options& options) {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return socket_failure("epoll_create1");
  std::vector<Lane> lanes;
  for (auto& stream : streams) {
    epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.u64 = lanes.size()}};
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, stream->descriptor(), &event) != 0) return socket_failure("epoll_ctl");
    lanes.push_back({.stream = std::move(stream)});
  }
  return std::unique_ptr<Endpoint>(new TcpCrowd(std::move(lanes), std::move(epoll), options));
}

TcpCrowd::TcpCrowd(std::vector<Lane> lanes, UniqueFd epoll, const Options& options)
    : lanes_(std::move(lanes)),
      epoll_(std::move(epoll)),
      options_(options),
      message_(options.size),
      request_(kRequestSize),
      staging_(kStagingSize) {}

Outcome<void> TcpCrowd::prepare(Waiting waiting) {
  waiting_ = waiting;
  return {};
}

TcpCrowd::Plan TcpCrowd::leaders_plan(std::uint64_t messages) const {
  const std::uint64_t octets = messages * options_.size;
  if (options_.op != Op::kRead) return {message_, octets, 1, &all_at_once, messages};
  return {request_, kRequestSize * messages, octets, &requests_under_way, messages};
}

TcpCrowd::Plan TcpCrowd::followers_plan(std::uint64_t messages) const {
  const std::uint64_t octets = messages * options_.size;
  if (options_.op != Op::kRead) return {message_, 1, octets, &when_complete, messages};
  return {message_, octets, kRequestSize * messages, &answers, messages};
}

Outcome<RunResult> TcpCrowd::lead(std::uint64_t messages) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto done = run(leaders_plan(messages / lanes_.size())); !done) return std::unexpected(done.error());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return RunResult{.seconds = taken.count()};
}

Outcome<void> TcpCrowd::follow(std::uint64_t messages) { return run(followers_plan(messages / lanes_.size())); }

Outcome<void> TcpCrowd::run(const Plan& plan) {
  for (Lane& lane : lanes_) {
    lane.sent = lane.received = 0;
    lane.readable = lane.writable = true;
  }
  const auto unfinished = [&](const Lane& lane) { return lane.sent < plan.to_send || lane.received < plan.to_receive; };
  Patience patience;
  while (std::ranges::any_of(lanes_, unfinished)) {
    bool moved = false;
    for (Lane& lane : lanes_) {
      const auto served = serve(lane, plan);
      if (!served) return std::unexpected(served.error());
      moved = moved || *served;
    }
    if (moved) {
      patience.renew();
      continue;
    }
    const auto more = take_events();
    if (!more) return std::unexpected(more.error());
    if (!*more && !patience.spin()) return failure("raw TCP: no answer from the other process.");
  }
  return {};
}

Outcome<bool> TcpCrowd::serve(Lane& lane, const Plan& plan) {
  const auto received = receive_some(lane, plan);
  if (!received) return received;
  const auto sent = send_some(lane, plan);
  if (!sent) return sent;
  return *received || *sent;
}

Outcome<bool> TcpCrowd::send_some(Lane& lane, const Plan& plan) {
  const std::uint64_t allowed = std::min(plan.to_send, plan.may_send(options_, plan.messages, lane.received));
  if (!lane.writable || lane.sent == allowed) return false;
  std::array<iovec, 1024> pieces;  // IOV_MAX
  const std::span list = std::span(pieces).first(std::min<std::size_t>(list_length(options_), pieces.size()));
  const std::size_t count = gather(list, plan.unit, lane.sent, allowed - lane.sent);
  const ssize_t sent = lane.stream->send(list.first(count), MSG_DONTWAIT);
  if (sent < 0 && errno == EINTR) return true;
  if (sent < 0 && errno != EAGAIN) return socket_failure("sendmsg");
  lane.writable = sent > 0;
  if (sent > 0) lane.sent += static_cast<std::uint64_t>(sent);
  return sent > 0;
}

Outcome<bool> TcpCrowd::receive_some(Lane& lane, const Plan& plan) {
  if (!lane.readable || lane.received == plan.to_receive) return false;
  const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(plan.to_receive - lane.received, staging_.size()));
  const ssize_t got = lane.stream->receive(MutableBytes(staging_).first(room), MSG_DONTWAIT);
  if (got == 0) return failure("raw TCP: the other process closed the connection.");
  if (got < 0 && errno == EINTR) return true;
  if (got < 0 && errno != EAGAIN) return socket_failure("recv");
  lane.readable = got > 0;
  if (got > 0) lane.received += static_cast<std::uint64_t>(got);
  return got > 0;
}

// Marks those of which epoll knows something new. False when there were none.
Outcome<bool> TcpCrowd::take_events() {
  std::array<epoll_event, 256> events;
  constexpr auto kAtMost = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
  const int at_most = waiting_ == Waiting::kPoll ? 0 : static_cast<int>(kAtMost.count());
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), at_most);
  if (count < 0 && errno != EINTR) return socket_failure("epoll_wait");
  if (count == 0 && at_most != 0) return failure("raw TCP: no answer from the other process.");
  for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(std::max(count, 0)))) {
    Lane& lane = lanes_[event.data.u64];
    lane.readable = lane.readable || (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
    lane.writable = lane.writable || (event.events & EPOLLOUT) != 0;
  }
  return count > 0;
}

// One socket after another, and in both directions: a seed of its own for each.
Outcome<void> TcpCrowd::lead_check(std::uint8_t seed) {
  for (const Lane& lane : lanes_) {
    fill_pattern(message_, seed++);
    if (auto sent = tcp_send(*lane.stream, message_, Waiting::kPoll); !sent) return sent;
  }
  return {};
}

Outcome<void> TcpCrowd::follow_check(std::uint8_t seed) {
  std::vector<std::byte> received(options_.size);
  for (const Lane& lane : lanes_) {
    if (auto got = tcp_receive(*lane.stream, received, Waiting::kPoll); !got) return got;
    if (const auto at = first_difference(received, seed++)) {
      return failure("raw TCP: wrong data at octet " + std::to_string(*at) + ".");
    }
  }
  return {};
}

}  // namespace weft::tools::bench
