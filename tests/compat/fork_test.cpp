// SPDX-License-Identifier: Apache-2.0
// Children of a program that forks while its threads use what it has. A child that destroys what it inherited, as
// pre-forking servers do, waits for no thread and disturbs no connection.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <optional>
#include <thread>

#include "common/sanitizers.hpp"
#include "ends.hpp"

namespace weft::compat::test {
namespace {

struct Fork : testing::Test {
  Fork() {
    std::thread other(
        [&] { client.emplace(resolved(calling, ntohs(rdma_get_src_port(listener)))), client->connect(); });
    server.emplace(accepting.next(RDMA_CM_EVENT_CONNECT_REQUEST).id);
    server->accept();
    other.join();
    there = calling.next(RDMA_CM_EVENT_ESTABLISHED).place;
    static_cast<void>(accepting.next(RDMA_CM_EVENT_ESTABLISHED));
  }
  ~Fork() override {
    rdma_disconnect(client->id);
    client.reset();
    server.reset();
    rdma_destroy_id(listener);
  }

  // Its exit code; what it throws says itself.
  template <typename Body>
  static int in_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      try {
        body();
        ::_exit(0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
        ::_exit(1);
      }
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  void write() const {
    client->post_send(1, IBV_WR_RDMA_WRITE, there);
    EXPECT_EQ(client->completions(1)[0].status, IBV_WC_SUCCESS);
  }

  Events accepting;
  Events calling;
  rdma_cm_id* const listener = listening(accepting);
  std::optional<End> server;
  std::optional<End> client;
  Place there;
};

// In the order in which a program has to, and no call finds anything in its way.
void destroy(End& end) {
  rdma_disconnect(end.id);  // which is refused
  rdma_destroy_qp(end.id);
  must(ibv_dereg_mr(end.region), "ibv_dereg_mr");
  must(ibv_destroy_cq(end.queue), "ibv_destroy_cq");
  must(ibv_destroy_comp_channel(end.announcements), "ibv_destroy_comp_channel");
  must(ibv_dealloc_pd(end.domain), "ibv_dealloc_pd");
  must(ibv_close_device(end.id->verbs), "ibv_close_device");
  must(rdma_destroy_id(end.id), "rdma_destroy_id");
}

TEST_F(Fork, ChildrenDestroyWhatTheyInherited) {
  std::atomic<bool> over{false};
  std::thread traffic([&] {
    while (!over) write();
  });
  for (int i = 0; i < 200; ++i) {
    const int code = in_child([&] {
      destroy(*client);
      destroy(*server);
      must(rdma_destroy_id(listener), "rdma_destroy_id");
      rdma_destroy_event_channel(calling.channel);
      rdma_destroy_event_channel(accepting.channel);
    });
    EXPECT_EQ(code, 0) << "child " << i;
    if (code != 0) break;
  }
  over = true;
  traffic.join();
  write();
}

// What the parent has not acknowledged, the child need not wait for.
TEST_F(Fork, EventsOfTheParentHoldNothingUp) {
  must(ibv_req_notify_cq(client->queue, 0), "ibv_req_notify_cq");
  write();
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  must(ibv_get_cq_event(client->announcements, &queue, &context), "ibv_get_cq_event");
  EXPECT_EQ(in_child([&] { destroy(*client); }), 0);
  ibv_ack_cq_events(queue, 1);
}

TEST_F(Fork, AChildMakesItsOwn) {
  if (WEFT_THREAD_SANITIZER) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const int code = in_child([&] {
    destroy(*client);
    const Events events;
    must(rdma_destroy_id(resolved(events, 1)), "rdma_destroy_id");
    must(rdma_destroy_id(listening(events)), "rdma_destroy_id");
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace weft::compat::test
