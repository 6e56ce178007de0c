// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/progress_threads.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "verbs/progress/relief.hpp"
#include "verbs/progress/tuning.hpp"

namespace weft::verbs::detail {

Result<void> ProgressThreads::open(std::size_t threads, const Serve& serve) {
  threads_.reserve(threads);
  while (threads_.size() < threads) {
    auto one = transport::ReadinessThread::create([this, serve](const transport::Ready& ready) {
      if (serve(ready)) messages_ = true;
    });
    if (!one) return fail(Errc::kSystem, "runtime", "cannot create a readiness set", one.error().value());
    threads_.push_back(std::move(*one));
  }
  return {};
}

void ProgressThreads::start(const std::function<void()>& first, const std::function<void()>& gone) {
  for (auto& one : threads_) one.start(first, gone);
  proxy_ = ProxyState::kNone;
}

void ProgressThreads::stop() {
  for (auto& one : threads_) one.stop();
}

bool ProgressThreads::are_cut_off() const noexcept {
  return !threads_.empty() && ::fcntl(threads_.front().descriptor(), F_GETFD) < 0 && errno == EBADF;
}

// --- Pollers

void ProgressThreads::help() {
  for (auto& one : threads_) {
    if (one.serves_any()) one.help(tuning::kLate, tuning::kReadyAtOnce);
  }
}

void ProgressThreads::poller_leaves() {
  if (!has_proxy()) threads_.front().resume();
}

// --- The proxy

bool ProgressThreads::proxy_comes() {
  if (proxy_ != ProxyState::kNone) return false;  // and leaves the messages to its tick
  const ReliefFacts facts{
      .threads = threads_.size(), .proxy = true, .messages = messages(), .sleepers = sleepers_ != 0};
  auto none = ProxyState::kNone;
  if (relief(facts) != Server::kProxy || !proxy_.compare_exchange_strong(none, ProxyState::kPresent)) return false;
  threads_.front().rest();
  return true;
}

void ProgressThreads::proxy_leaves() {
  proxy_ = ProxyState::kNone;
  threads_.front().resume();
}

void ProgressThreads::falls_asleep() {
  ++sleepers_;
  if (has_proxy()) threads_.front().resume();
}

// --- The tick

void ProgressThreads::on_tick(bool pollers_have_time) {
  auto& first = threads_.front();
  const ReliefFacts facts{.threads = threads_.size(),
                          .sockets = first.serves_any(),
                          .proxy = has_proxy(),
                          .messages = messages(),
                          .sleepers = sleepers_ != 0,
                          .pollers_have_time = pollers_have_time};
  if (relief(facts) == Server::kProgressThreads) {
    first.resume();
  } else {
    first.rest();
  }
}

// --- The watchdog

bool ProgressThreads::any_rests() const noexcept {
  return std::ranges::any_of(threads_, &transport::ReadinessThread::rests);
}

void ProgressThreads::resume_all() {
  for (auto& one : threads_) one.resume();
}

}  // namespace weft::verbs::detail
