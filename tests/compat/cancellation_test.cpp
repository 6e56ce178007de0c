// SPDX-License-Identifier: Apache-2.0
// pthread_cancel() of a thread in the drop-in libraries: it ends where a call waits, and leaves everything usable; any
// other call is carried out. Each call that waits is tried with a thread that sleeps in it, and with one that was
// cancelled before it came.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <functional>

#include "common/sanitizers.hpp"
#include "ends.hpp"
#include "silent_ends.hpp"
#include "things.hpp"

namespace weft::compat::test {
namespace {

enum class When { kBefore, kAsleep };

// A thread that is cancelled in `call`.
class Victim {
 public:
  explicit Victim(std::function<void()> call) : call_(std::move(call)) {}

  void cancel(When when) {
    before_ = when == When::kBefore;
    pthread_t thread{};
    ASSERT_EQ(::pthread_create(&thread, nullptr, &run, this), 0);
    if (!before_) {
      wait_until([this] { return tid_ != 0 && sleeps(); }, "the thread to sleep");
      ASSERT_EQ(::pthread_cancel(thread), 0);
    }
    void* end = nullptr;
    ASSERT_EQ(::pthread_join(thread, &end), 0);
    EXPECT_EQ(end, PTHREAD_CANCELED);
  }
  [[nodiscard]] bool returned() const { return returned_; }

 private:
  static void* run(void* argument) {
    auto& self = *static_cast<Victim*>(argument);
    if (self.before_) ::pthread_cancel(::pthread_self());
    self.tid_ = ::gettid();
    self.call_();
    self.returned_ = true;
    ::pthread_testcancel();
    return nullptr;
  }
  [[nodiscard]] bool sleeps() const {
    std::ifstream file("/proc/self/task/" + std::to_string(tid_) + "/stat");
    std::string line;
    std::getline(file, line);
    const auto end = line.rfind(')');
    return end != std::string::npos && line[end + 2] == 'S';
  }

  const std::function<void()> call_;
  bool before_ = false;
  std::atomic<pid_t> tid_{0};
  std::atomic<bool> returned_{false};
};

class Cancelled : public testing::TestWithParam<When> {
 protected:
  void SetUp() override {
    if (WEFT_THREAD_SANITIZER) {
      GTEST_SKIP() << "ThreadSanitizer sees no lock of a thread that was cancelled in a system call";
    }
  }
  // In a call that would not return by itself.
  static void in(std::function<void()> call) {
    Victim victim(std::move(call));
    victim.cancel(GetParam());
    EXPECT_FALSE(victim.returned());
  }
  // In one that may return before it has to wait.
  static void perhaps_in(std::function<void()> call) { Victim(std::move(call)).cancel(When::kBefore); }
};
INSTANTIATE_TEST_SUITE_P(Cancellation, Cancelled, testing::Values(When::kBefore, When::kAsleep),
                         [](const auto& when) { return when.param == When::kBefore ? "Before" : "Asleep"; });

// --- Events

TEST_P(Cancelled, GetCqEvent) {
  const Things things;
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  in([&] { ibv_get_cq_event(things.channel, &cq, &context); });
  ASSERT_EQ(ibv_req_notify_cq(things.cq, 0), 0);
  complete_receives(things.qp, 1);
  ASSERT_EQ(ibv_get_cq_event(things.channel, &cq, &context), 0);  // whom the next event still reaches
  ibv_ack_cq_events(cq, 1);
}

// The first wait of a channel with connections makes what it waits with.
TEST_P(Cancelled, GetCqEventOfAConnection) {
  Connected ends;
  ibv_comp_channel* const channel = ends.server->announcements;
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  for (int i = 0; i < 2; ++i) in([&] { ibv_get_cq_event(channel, &cq, &context); });
  ends.server->post_receive(1);
  ASSERT_EQ(ibv_req_notify_cq(ends.server->queue, 0), 0);
  ends.client.post_send(1, IBV_WR_SEND);
  ASSERT_EQ(ibv_get_cq_event(channel, &cq, &context), 0);
  ibv_ack_cq_events(cq, 1);
  EXPECT_EQ(ends.server->completions(1)[0].status, IBV_WC_SUCCESS);
}

// One that has waited often serves connections while it waits.
TEST_P(Cancelled, GetCmEventOfARow) {
  const Events events;
  rdma_cm_id* const listener = listening(events);
  for (int i = 0; i < 8; ++i) {
    rdma_cm_id* id = nullptr;
    must(rdma_create_id(events.channel, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
    sockaddr_in to = loopback(ntohs(rdma_get_src_port(listener)));
    must(rdma_resolve_addr(id, nullptr, plain(to), 1000), "rdma_resolve_addr");
    rdma_cm_event* event = nullptr;
    must(rdma_get_cm_event(events.channel, &event), "rdma_get_cm_event");
    rdma_ack_cm_event(event);
    must(rdma_destroy_id(id), "rdma_destroy_id");
    in([&] { rdma_get_cm_event(events.channel, &event); });
  }
  must(rdma_destroy_id(listener), "rdma_destroy_id");
}

TEST_P(Cancelled, GetAsyncEvent) {
  const Things things;
  ibv_async_event event{};
  in([&] { ibv_get_async_event(things.context, &event); });
}

TEST_P(Cancelled, GetCmEvent) {
  const Events events;
  in([&] {
    rdma_cm_event* event = nullptr;
    rdma_get_cm_event(events.channel, &event);
  });
  rdma_destroy_id(resolved(events, 1));  // it finds its events
}

// --- Identifiers of synchronous operation

struct Id {
  Id() {
    must(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
    sockaddr_in address = loopback(0);
    must(rdma_bind_addr(id, plain(address)), "rdma_bind_addr");
  }
  ~Id() { rdma_destroy_ep(id); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;

  void resolve(std::uint16_t port) const {
    sockaddr_in to = loopback(port);
    must(rdma_resolve_addr(id, nullptr, plain(to), 1000), "rdma_resolve_addr");
    must(rdma_resolve_route(id, 1000), "rdma_resolve_route");
    create_pair(id);
  }
  static void create_pair(rdma_cm_id* of) {
    ibv_qp_init_attr wanted{};
    wanted.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    wanted.qp_type = IBV_QPT_RC;
    must(rdma_create_qp(of, nullptr, &wanted), "rdma_create_qp");
  }

  rdma_cm_id* id = nullptr;
};

// A listener with the request of a peer that says nothing more.
struct Asked {
  explicit Asked(Request kind) {
    must(rdma_listen(listener.id, 4), "rdma_listen");
    peer.connect(ntohs(rdma_get_src_port(listener.id)));
    peer.send(kind);
    must(rdma_get_request(listener.id, &id), "rdma_get_request");
    Id::create_pair(id);
  }
  ~Asked() { rdma_destroy_ep(id); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  Id listener;
  SilentPeer peer;
  rdma_cm_id* id = nullptr;
};

TEST_P(Cancelled, GetRequest) {
  const Id listener;
  must(rdma_listen(listener.id, 4), "rdma_listen");
  rdma_cm_id* id = nullptr;
  in([&] { rdma_get_request(listener.id, &id); });
  SilentPeer peer;
  peer.connect(ntohs(rdma_get_src_port(listener.id)));
  peer.send(Request::kRevision1);
  ASSERT_EQ(rdma_get_request(listener.id, &id), 0);
  rdma_destroy_ep(id);
}

TEST_P(Cancelled, Connect) {
  const SilentListener nobody;
  const Id client;
  client.resolve(nobody.port());
  in([&] { rdma_connect(client.id, nullptr); });
}

TEST_P(Cancelled, Accept) {
  const Asked asked(Request::kPeerToPeer);
  in([&] { rdma_accept(asked.id, nullptr); });
}

TEST_P(Cancelled, Disconnect) {
  const Asked asked(Request::kRevision1);
  must(rdma_accept(asked.id, nullptr), "rdma_accept");
  in([&] { rdma_disconnect(asked.id); });
}

TEST_P(Cancelled, ResolveAddrAndRoute) {
  const Id client;
  sockaddr_in to = loopback(1);
  perhaps_in([&] { rdma_resolve_addr(client.id, nullptr, plain(to), 1000); });
  const Id other;
  must(rdma_resolve_addr(other.id, nullptr, plain(to), 1000), "rdma_resolve_addr");
  perhaps_in([&] { rdma_resolve_route(other.id, 1000); });
}

TEST_P(Cancelled, CreateEp) {
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  rdma_addrinfo* found = nullptr;
  must(rdma_getaddrinfo("127.0.0.1", "1", &hints, &found), "rdma_getaddrinfo");
  rdma_cm_id* made = nullptr;
  perhaps_in([&] { rdma_create_ep(&made, found, nullptr, nullptr); });
  if (made != nullptr) rdma_destroy_ep(made);
  rdma_freeaddrinfo(found);
}

// --- rsockets

struct Stream : Cancelled {
  // After it no call holds the rsocket, and octets still come through.
  void expect_usable() const {
    ASSERT_EQ(rsend(pair.there, "x", 1, 0), 1);
    char octet = 0;
    EXPECT_EQ(rrecv(pair.here, &octet, 1, 0), 1);
  }
  void receive_by(const std::function<void(int)>& call) const {
    in([&] { call(pair.here); });
    expect_usable();
  }
  void send_by(const std::function<void(int)>& call) const {
    in([&] {
      for (;;) call(pair.here);  // the peer reads nothing
    });
    expect_usable();
  }

  const RsocketPair pair;
  mutable std::array<char, 1> octet{};
  mutable std::vector<char> many = std::vector<char>(1 << 20);
  iovec small{.iov_base = octet.data(), .iov_len = octet.size()};
  iovec large{.iov_base = many.data(), .iov_len = many.size()};
};
INSTANTIATE_TEST_SUITE_P(Cancellation, Stream, testing::Values(When::kBefore, When::kAsleep),
                         [](const auto& when) { return when.param == When::kBefore ? "Before" : "Asleep"; });

TEST_P(Stream, Rrecv) {
  receive_by([&](int socket) { rrecv(socket, octet.data(), 1, 0); });
}
TEST_P(Stream, Rrecvfrom) {
  receive_by([&](int socket) { rrecvfrom(socket, octet.data(), 1, 0, nullptr, nullptr); });
}
TEST_P(Stream, Rrecvmsg) {
  msghdr message{};
  message.msg_iov = &small;
  message.msg_iovlen = 1;
  receive_by([&](int socket) { rrecvmsg(socket, &message, 0); });
}
TEST_P(Stream, Rread) {
  receive_by([&](int socket) { rread(socket, octet.data(), 1); });
}
TEST_P(Stream, Rreadv) {
  receive_by([&](int socket) { rreadv(socket, &small, 1); });
}
TEST_P(Stream, Rsend) {
  send_by([&](int socket) { rsend(socket, many.data(), many.size(), 0); });
}
TEST_P(Stream, Rsendto) {
  send_by([&](int socket) { rsendto(socket, many.data(), many.size(), 0, nullptr, 0); });
}
TEST_P(Stream, Rsendmsg) {
  msghdr message{};
  message.msg_iov = &large;
  message.msg_iovlen = 1;
  send_by([&](int socket) { rsendmsg(socket, &message, 0); });
}
TEST_P(Stream, Rwrite) {
  send_by([&](int socket) { rwrite(socket, many.data(), many.size()); });
}
TEST_P(Stream, Rwritev) {
  send_by([&](int socket) { rwritev(socket, &large, 1); });
}
TEST_P(Stream, Rpoll) {
  receive_by([&](int socket) {
    pollfd wanted{.fd = socket, .events = POLLIN, .revents = 0};
    rpoll(&wanted, 1, -1);
  });
}
TEST_P(Stream, Rselect) {
  receive_by([&](int socket) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(socket, &set);
    rselect(socket + 1, &set, nullptr, nullptr, nullptr);
  });
}
TEST_P(Stream, RshutdownAndRiowrite) {
  std::array<char, 64> memory{};
  const off_t place = riomap(pair.there, memory.data(), memory.size(), PROT_WRITE, 0, 0);
  ASSERT_EQ(place, 0);
  expect_usable();  // the peer hears of it
  perhaps_in([&] { riowrite(pair.here, "x", 1, place, 0); });
  perhaps_in([&] { rshutdown(pair.here, SHUT_WR); });
  EXPECT_EQ(riounmap(pair.there, memory.data(), memory.size()), 0);
}
// Cancelled, it has closed.
TEST_P(Stream, Rclose) {
  perhaps_in([&] { rclose(pair.here); });
  EXPECT_EQ(rrecv(pair.there, octet.data(), 1, 0), 0);
  EXPECT_EQ(rclose(pair.here), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST_P(Cancelled, RrecvfromOfDatagrams) {
  const int socket = rsocket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in at = loopback(0);
  socklen_t length = sizeof at;
  ASSERT_EQ(rbind(socket, plain(at), length), 0);
  ASSERT_EQ(rgetsockname(socket, plain(at), &length), 0);
  char octet = 0;
  in([&] { rrecvfrom(socket, &octet, 1, 0, nullptr, nullptr); });
  ASSERT_EQ(rsendto(socket, "x", 1, 0, plain(at), length), 1);
  EXPECT_EQ(rrecv(socket, &octet, 1, 0), 1);
  EXPECT_EQ(rclose(socket), 0);
}

TEST_P(Cancelled, Raccept) {
  const RsocketListener listener;
  in([&] { raccept(listener.socket, nullptr, nullptr); });
  EXPECT_EQ(raccept_nonblocking(listener.socket), EAGAIN);
}

TEST_P(Cancelled, Rconnect) {
  const SilentListener nobody;
  const int socket = rsocket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = loopback(nobody.port());
  in([&] { rconnect(socket, plain(to), sizeof to); });
  EXPECT_EQ(rclose(socket), 0);
}

// --- All others are carried out

TEST(CancelledBefore, AllOtherCallsAreCarriedOut) {
  bool through = false;
  Victim victim([&] {
    {
      Things things;
      std::array<char, 64> memory{};
      must(ibv_dereg_mr(must(ibv_reg_mr(things.pd, memory.data(), memory.size(), 0), "ibv_reg_mr")), "ibv_dereg_mr");
      complete_receives(things.qp, 2);
      ibv_wc completion{};
      EXPECT_EQ(ibv_poll_cq(things.cq, 1, &completion), 1);
    }
    {
      const Events events;
      rdma_cm_id* const id = listening(events);
      must(rdma_destroy_id(id), "rdma_destroy_id");
      rdma_cm_id* other = nullptr;
      must(rdma_create_id(events.channel, &other, nullptr, RDMA_PS_TCP), "rdma_create_id");
      sockaddr_in to = loopback(1);
      must(rdma_resolve_addr(other, nullptr, plain(to), 1000), "rdma_resolve_addr");
      must(rdma_destroy_id(other), "rdma_destroy_id");
      int count = 0;
      rdma_free_devices(must(rdma_get_devices(&count), "rdma_get_devices"));
    }
    const RsocketListener listener;
    through = true;
  });
  victim.cancel(When::kBefore);
  EXPECT_TRUE(through);
}

}  // namespace
}  // namespace weft::compat::test
