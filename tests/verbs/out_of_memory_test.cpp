// SPDX-License-Identifier: Apache-2.0
// Memory that weft's own threads do not get costs a connection, and not the process: each of their allocations fails
// once, the first, the second and so on.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "hand_peer.hpp"
#include "verbs/progress/runtime.hpp"

namespace {

std::atomic<int> left{-1};  // allocations of weft's threads until one fails; negative: none does

void* allocate(std::size_t size, std::size_t alignment) {
  if (left >= 0 && weft::verbs::detail::Runtime::on_its_thread() && left-- == 0) throw std::bad_alloc();
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace weft::verbs::test {
namespace {

struct Server {
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId id = must(ConnectionId::create(events), "ConnectionId");
  Server() {
    must(id.bind_address(loopback("127.0.0.1")), "bind_address");
    must(id.listen(16), "listen");
  }
};

// Whether the server hears of a peer that asks; else the peer is reset. Only poll(2) waits, so that weft's threads do the
// work: a thread inside get_event() would do it itself.
bool is_heard(Server& server) {
  HandPeer peer(server.id.local_address());
  std::array<pollfd, 2> either{{{.fd = server.events.descriptor(), .events = POLLIN, .revents = 0},
                                {.fd = peer.descriptor(), .events = POLLIN, .revents = 0}}};
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
  if (::poll(either.data(), either.size(), static_cast<int>(patience.count())) < 1)
    throw std::runtime_error("neither heard nor reset");
  if (either[0].revents == 0) return false;
  return must(server.events.get_event(0ms), "get_event").request != nullptr;
}

TEST(OutOfMemory, CostsTheConnectionThatComes) {
  Server server;
  EXPECT_TRUE(is_heard(server));
  int lost = 0;
  for (int nth = 0; nth < 40; ++nth) {
    left = nth;
    lost += is_heard(server) ? 0 : 1;
    left = -1;
    ASSERT_TRUE(is_heard(server)) << "after failure " << nth;
  }
  EXPECT_GT(lost, 0);
}

// Whatever becomes of the one: another can be had.
TEST(OutOfMemory, CostsTheConnectionThatIsServed) {
  for (int nth = 0; nth < 12; ++nth) {
    Pair pair;
    Buffer from(pair.client, 1 << 20), to(pair.server, 1 << 20);
    left = nth;
    must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaWrite,
                                    .flags = SendFlags::kSignaled,
                                    .segments = std::array{from.sge()},
                                    .remote_address = to.remote(),
                                    .rkey = to.region.rkey()}),
         "Write");
    static_cast<void>(pair.client.next());  // done, or flushed
    left = -1;
  }
  Pair pair;
  pair.disconnect();
}

}  // namespace
}  // namespace weft::verbs::test
