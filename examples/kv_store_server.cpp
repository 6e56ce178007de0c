// SPDX-License-Identifier: Apache-2.0
// The server of a key-value store. Clients read entries of its table by RDMA Reads, without involving this program. A
// put arrives as a Send, and one thread per client writes it to the table. docs/course/7-store.md explains the program.
//
//     kv_store_server [PORT]    prints its port, and serves until ^C
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "kv_store.hpp"

using namespace kv;

namespace {

class Table {
 public:
  Answer put(std::string_view key, std::string_view value) {
    const std::lock_guard one_writer_at_a_time(mutex_);
    for (std::size_t steps = 0; steps < kEntries; ++steps) {
      Entry& entry = entries_[place(key, steps)];
      if (entry.pair.key[0] != 0 && key != entry.pair.key.data()) continue;
      const std::uint64_t stamp = entry.front + 1;
      std::atomic_ref(entry.back).store(stamp, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_release);
      write(entry.pair.key, key);
      write(entry.pair.value, value);
      std::atomic_ref(entry.front).store(stamp, std::memory_order_release);
      return Answer::kDone;
    }
    return Answer::kTableFull;
  }
  std::span<Entry> entries() { return entries_; }

 private:
  // Writes octet by octet, because a reader may read at any time.
  static void write(std::span<char> to, std::string_view text) {
    for (std::size_t i = 0; i <= text.size(); ++i)
      std::atomic_ref(to[i]).store(i < text.size() ? text[i] : '\0', std::memory_order_relaxed);
  }
  std::mutex mutex_;
  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

// Checks a put and executes it. Client input is untrusted.
Answer take(const Pair& pair, std::size_t octets, Table& table) {
  const auto ends = [](const auto& text) { return std::ranges::find(text, '\0') != text.end(); };
  if (octets != sizeof pair || pair.key[0] == 0 || !ends(pair.key) || !ends(pair.value)) return Answer::kMalformed;
  return table.put(pair.key.data(), pair.value.data());
}

void serve(weft::Connection& client, Table& table) {
  Pair pair{};
  Answer answer{};
  const weft::Region receive = must(client.register_memory(pair));
  const weft::Region reply = must(client.register_memory(answer));
  // The table is read-only, and accessible to this client only.
  const weft::Region shared = must(client.register_memory(table.entries(), weft::Access::kRemoteRead));
  must(client.establish(std::chrono::seconds(10), shared.remote().to_wire()));
  for (;;) {
    const auto octets = client.receive(receive, weft::Deadline::never());
    // The client has disconnected.
    if (!octets && octets.error().code == weft::Errc::kDisconnected) return;
    answer = take(pair, must(octets), table);
    must(client.send(reply, std::chrono::seconds(10)));
  }
}

void listen_at(std::uint16_t port, Table& table) {
  weft::Listener listener = must(weft::Listener::listen({"127.0.0.1", port}));
  std::printf("kv_store_server: listening on port %u\n", unsigned{listener.local().port});
  std::fflush(stdout);
  for (;;) {
    std::thread([client = must(listener.next(weft::Deadline::never())), &table]() mutable {
      try {
        serve(client, table);
      } catch (const std::exception& end) {
        std::fprintf(stderr, "kv_store_server: a client: %s\n", end.what());
      }
    }).detach();
  }
}

}  // namespace

int main(int argc, char** argv) {
  static Table table;  // the client threads use it until the process ends
  try {
    listen_at(std::uint16_t(argc > 1 ? std::atoi(argv[1]) : 0), table);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "kv_store_server: %s\n", failure.what());
  }
  return 1;
}
