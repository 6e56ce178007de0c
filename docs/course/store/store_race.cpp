// SPDX-License-Identifier: Apache-2.0
// Your read_entry and write_entry over weft: two clients write one entry with RDMA alone, a third one reads it. The
// server registers the entry, and its program does nothing else. All of them are in one process here.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "kv_store_write.hpp"

using namespace kv;

namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr int kWriters = 2, kPuts = 500;

class LiveEntry : public WritableEntry {
 public:
  explicit LiveEntry(const weft::Endpoint& server)
      : server_(must(weft::Connection::connect(server, kPatience))),
        entry_(must(weft::RemoteRegion::from_wire(server_.peer_data()))) {}

  void read(std::size_t offset, std::size_t length) override {
    must(server_.read(must(copy_region_.subspan(offset, length)), must(entry_.subspan(offset, length)), kPatience));
  }
  void write(std::size_t offset, std::size_t length) override {
    must(server_.write(must(copy_region_.subspan(offset, length)), must(entry_.subspan(offset, length)), kPatience));
  }
  std::uint64_t compare_swap(std::size_t offset, std::uint64_t compare, std::uint64_t swap) override {
    return must(server_.compare_swap(must(entry_.subspan(offset, sizeof swap)), compare, swap, kPatience));
  }

 private:
  weft::Connection server_;
  weft::RemoteRegion entry_;
  weft::Region copy_region_ = must(server_.register_memory(copy));
};

void serve(weft::Connection client, Entry& entry) {
  using enum weft::Access;
  const weft::Region shared =
      must(client.register_memory(entry, kLocalWrite | kRemoteRead | kRemoteWrite | kRemoteAtomic));
  must(client.establish(kPatience, shared.remote().to_wire()));
  (void)client.receive({}, weft::Deadline::never());  // fails when the client has gone
}

void put(const weft::Endpoint& server, char letter) {
  LiveEntry entry(server);
  Pair pair{};
  std::fill_n(pair.value.begin(), pair.value.size() - 1, letter);
  for (int i = 0; i < kPuts; ++i) write_entry(entry, pair);
  entry.read(0, sizeof(Entry));  // its response says that all Writes are in place
}

struct Found {
  unsigned long reads = 0, again = 0, torn = 0;
};

Found look(const weft::Endpoint& server, const std::atomic<int>& writers) {
  LiveEntry entry(server);
  Found found;
  for (bool last = false; !last; ++found.reads) {
    last = writers == 0;
    found.again += read_entry(entry);
    const auto& value = entry.copy.pair.value;
    if (std::ranges::count(value, value[0]) < std::ssize(value) - 1) ++found.torn;
  }
  return found;
}

// Runs the function in a thread. An exception ends the program, with its message.
template <typename Function>
std::jthread start(Function function) {
  return std::jthread([function = std::move(function)]() mutable {
    try {
      function();
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "store_race: %s\n", failure.what());
      std::_Exit(1);
    }
  });
}

int run() {
  Entry entry{};
  std::atomic<int> writers = kWriters;
  weft::Listener listener = must(weft::Listener::listen({"127.0.0.1", 0}));
  const weft::Endpoint server = listener.local();
  Found found;
  {
    const std::jthread all_clients = start([&] {
      std::vector<std::jthread> clients;
      for (int i = 0; i < kWriters + 1; ++i)
        clients.push_back(
            start([&, client = must(listener.next(kPatience))]() mutable { serve(std::move(client), entry); }));
    });
    const std::jthread reader = start([&] { found = look(server, writers); });
    std::vector<std::jthread> threads;
    for (int i = 0; i < kWriters; ++i)
      threads.push_back(start([&, i] {
        put(server, char('a' + i));
        --writers;
      }));
  }
  std::printf("%d puts, and a stamp of %llu\n%lu reads, %lu of them torn; %lu times read again\n", kWriters * kPuts,
              static_cast<unsigned long long>(entry.front), found.reads, found.torn, found.again);
  return found.torn == 0 && entry.front == std::uint64_t{kWriters * kPuts} && entry.back == entry.front ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "store_race: %s\n", failure.what());
    return 1;
  }
}
