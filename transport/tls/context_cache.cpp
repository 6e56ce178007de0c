// SPDX-License-Identifier: Apache-2.0
// Contexts by their settings. A look at the files' times is all that a connection pays while they stay as they are.
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>

#include "transport/cancellation.hpp"
#include "transport/tls/context.hpp"

namespace weft::transport::tls {
namespace {

// Identifies one version of a file. A file that was replaced, as by tools that renew certificates, has another inode.
struct Stamp {
  dev_t device{};
  ino_t inode{};
  std::int64_t seconds{};
  std::int64_t nanoseconds{};
  std::int64_t size{};
  bool operator==(const Stamp&) const = default;
};

using Stamps = std::array<Stamp, 5>;

Stamp stamp_of(const std::string& path) noexcept {
  struct stat about{};
  if (path.empty() || ::stat(path.c_str(), &about) != 0) return {};
  return {about.st_dev, about.st_ino, about.st_mtim.tv_sec, about.st_mtim.tv_nsec, about.st_size};
}

Stamps stamps_of(const Settings& settings) noexcept {
  return {stamp_of(settings.certificate), stamp_of(settings.key), stamp_of(settings.ca), stamp_of(settings.crl),
          stamp_of(settings.staple)};
}

struct Entry {
  Stamps stamps{};
  Context::Found found{};
  std::uint64_t used = 0;  // later: higher
};

struct Cache {
  std::mutex mutex{};
  std::map<Settings, Entry> entries{};
  std::uint64_t uses = 0;
};

// Never destroyed: connections may open while exit() runs.
Cache*& place() {
  static auto* one = new Cache;
  return one;
}

// A child of fork() begins anew: another thread of its parent may have been at work in there.
Cache& cache() {
  static const int watched = ::pthread_atfork(nullptr, nullptr, [] { place() = new Cache; });
  static_cast<void>(watched);
  return *place();
}

// A process has few policies. Of one that makes them without end, the context that was not used for longest goes.
constexpr std::size_t kMostContexts = 64;

void make_room(std::map<Settings, Entry>& entries) {
  if (entries.size() < kMostContexts) return;
  entries.erase(std::ranges::min_element(entries, {}, [](const auto& one) { return one.second.used; }));
}

}  // namespace

std::expected<Context::Found, Refusal> Context::find(const Settings& settings) {
  const NoCancellation here;
  const std::lock_guard lock(cache().mutex);
  auto& entries = cache().entries;
  const Stamps stamps = stamps_of(settings);  // before they are read: what changes meanwhile is read again
  const auto known = entries.find(settings);
  if (known != entries.end()) known->second.used = ++cache().uses;
  if (known != entries.end() && known->second.stamps == stamps) return known->second.found;
  auto loaded = load(settings);
  if (!loaded && known == entries.end()) return std::unexpected(loaded.error());
  if (!loaded) {  // half written, perhaps
    known->second.stamps = stamps;
    known->second.found.stale = loaded.error();
    return known->second.found;
  }
  if (known == entries.end()) make_room(entries);
  auto& entry = entries[settings];
  entry = {stamps, {std::move(*loaded), std::nullopt}, ++cache().uses};
  return entry.found;
}

}  // namespace weft::transport::tls
