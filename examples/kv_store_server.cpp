// SPDX-License-Identifier: Apache-2.0
// The server of a key-value store. Clients read entries of its table by RDMA Reads, without involving this program. A
// put arrives as a Send, and one thread per client writes it to the table. docs/course/6-store.md explains the program.
//
//     kv_store_server [PORT]    prints its port, and serves until ^C
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
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
  Entry* data() { return entries_.data(); }

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
Answer take(const Pair& pair, std::uint32_t octets, Table& table) {
  const auto ends = [](const auto& text) { return std::ranges::find(text, '\0') != text.end(); };
  if (octets != sizeof pair || pair.key[0] == 0 || !ends(pair.key) || !ends(pair.value)) return Answer::kMalformed;
  return table.put(pair.key.data(), pair.value.data());
}

void serve(ConnectionId& client, Table& table) {
  Desk desk(must(client.device(), "device"));
  Pair pair{};
  const MemoryRegion receive =
      must(desk.domain.register_memory(&pair, sizeof pair, Access::kLocalWrite), "register the receive");
  // The table is read-only, and accessible to this client only.
  const MemoryRegion shared = must(desk.domain.register_memory(table.data(), kEntries * sizeof(Entry),
                                                               Access::kRemoteRead, {.only_for = &desk.queue_pair}),
                                   "register the table");
  const std::array into{receive.sge()};
  must(desk.queue_pair.post_receive({.segments = into}), "post a receive");
  const Invitation invitation{shared.iova(), shared.rkey()};
  must(client.accept(desk.queue_pair, {.private_data = std::as_bytes(std::span(&invitation, 1))}), "accept");
  for (;;) {
    const WorkCompletion put = desk.next("put", kMaxTimeout);
    // The client has disconnected.
    if (put.status == WcStatus::kFlushed) return;
    if (put.status != WcStatus::kSuccess) fail("put", to_string(put.status));
    Answer answer = take(pair, put.byte_len, table);
    must(desk.queue_pair.post_receive({.segments = into}), "post a receive");
    const std::array from{Sge{reinterpret_cast<std::uintptr_t>(&answer), sizeof answer, 0}};
    must(desk.queue_pair.post_send({.opcode = SendOpcode::kSend, .flags = SendFlags::kInline, .segments = from}),
         "answer");
  }
}

void listen_at(std::uint16_t port, Table& table) {
  EventChannel events = must(EventChannel::create(), "event channel");
  ConnectionId listener = must(ConnectionId::create(events), "listener");
  must(listener.bind_address(must(lookup("127.0.0.1", port), "address")), "bind");
  must(listener.listen(), "listen");
  std::printf("kv_store_server: listening on port %u\n", unsigned{listener.local_address().port});
  std::fflush(stdout);
  for (;;) {
    std::shared_ptr<ConnectionId> client = must(events.get_event(), "connection event").request;
    // An event of a connection that its thread handles.
    if (!client) continue;
    std::thread([client, &table] {
      try {
        serve(*client, table);
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
