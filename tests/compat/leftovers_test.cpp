// SPDX-License-Identifier: Apache-2.0
// What stays in a process when its program has given everything back: of libibverbs nothing; of librdmacm the opens of
// the devices that identifiers named (rdma_cm_id::verbs is good as long as the process), and weft's
// own threads, which sleep: one for deadlines and the connection manager, and one for every four processors.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <rdma/rdma_verbs.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "ends.hpp"

namespace weft::compat::test {
namespace {

constexpr int kRounds = 50;

std::size_t threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// What each open descriptor is: "socket:[4711]", "anon_inode:[eventfd]". Without the one that reads the folder.
std::multiset<std::string> descriptors() {
  std::multiset<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!gone && !target.ends_with("/fd")) all.insert(target);
  }
  return all;
}

struct Counted {
  std::size_t threads;
  std::size_t descriptors;
  auto operator<=>(const Counted&) const = default;
};
Counted count() { return {.threads = threads(), .descriptors = descriptors().size()}; }

// Connections are closed in the background, after their queue pairs are gone.
void expect_no_more_than(const Counted& before, int round) {
  wait_until([&] { return count().descriptors <= before.descriptors && count().threads <= before.threads; },
             ("descriptors and threads to go, round " + std::to_string(round)).c_str());
}

// --- What programs do

// Every object of libibverbs, without a connection.
void use_verbs() {
  ibv_device** const devices = must(ibv_get_device_list(nullptr), "ibv_get_device_list");
  ibv_context* const context = must(ibv_open_device(devices[0]), "ibv_open_device");
  ibv_free_device_list(devices);
  ibv_pd* const domain = must(ibv_alloc_pd(context), "ibv_alloc_pd");
  ibv_comp_channel* const channel = must(ibv_create_comp_channel(context), "ibv_create_comp_channel");
  ibv_cq* const queue = must(ibv_create_cq(context, 16, nullptr, channel, 0), "ibv_create_cq");
  ibv_srq_init_attr shared_attributes{};
  shared_attributes.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  ibv_srq* const shared = must(ibv_create_srq(domain, &shared_attributes), "ibv_create_srq");
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = queue;
  attributes.srq = shared;
  attributes.qp_type = IBV_QPT_RC;
  ibv_qp* const pair = must(ibv_create_qp(domain, &attributes), "ibv_create_qp");
  std::array<char, 64> octets{};
  ibv_mr* const region = must(ibv_reg_mr(domain, octets.data(), octets.size(), 0), "ibv_reg_mr");
  ibv_mw* const window = must(ibv_alloc_mw(domain, IBV_MW_TYPE_2), "ibv_alloc_mw");
  must(ibv_dealloc_mw(window), "ibv_dealloc_mw");
  must(ibv_dereg_mr(region), "ibv_dereg_mr");
  must(ibv_destroy_qp(pair), "ibv_destroy_qp");
  must(ibv_destroy_srq(shared), "ibv_destroy_srq");
  must(ibv_destroy_cq(queue), "ibv_destroy_cq");
  must(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
  must(ibv_dealloc_pd(domain), "ibv_dealloc_pd");
  must(ibv_close_device(context), "ibv_close_device");
}

std::uint16_t port_of(rdma_cm_id* listener) { return ntohs(rdma_get_src_port(listener)); }

void exchange(const End& from, const End& to) {
  to.post_receive(1);
  from.post_send(2, IBV_WR_SEND);
  EXPECT_EQ(from.completions(1).front().status, IBV_WC_SUCCESS);
  EXPECT_EQ(to.completions(1).front().status, IBV_WC_SUCCESS);
}

// A connection with a Send each way. `orderly`: ended by both ends; else what there is is destroyed as it stands.
void use_connection(bool orderly) {
  const Events at_client;
  const Events at_server;
  rdma_cm_id* const listener = listening(at_server);
  {
    const End client(resolved(at_client, port_of(listener)));
    client.connect();
    const End server(at_server.next(RDMA_CM_EVENT_CONNECT_REQUEST).id);
    server.accept();
    static_cast<void>(at_client.next(RDMA_CM_EVENT_ESTABLISHED));
    static_cast<void>(at_server.next(RDMA_CM_EVENT_ESTABLISHED));
    exchange(client, server);
    exchange(server, client);
    if (orderly) {
      must(rdma_disconnect(client.id), "rdma_disconnect");
      static_cast<void>(at_server.next(RDMA_CM_EVENT_DISCONNECTED));
      static_cast<void>(at_client.next(RDMA_CM_EVENT_DISCONNECTED));
    }
  }
  must(rdma_destroy_id(listener), "rdma_destroy_id");
}

// No connection: the server says no, there is no listener, and a request that was not taken.
void use_refusals() {
  const Events at_client;
  const Events at_server;
  rdma_cm_id* const listener = listening(at_server);
  const std::uint16_t port = port_of(listener);
  {
    const End client(resolved(at_client, port));
    client.connect();
    rdma_cm_id* const request = at_server.next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
    must(rdma_reject(request, nullptr, 0), "rdma_reject");
    must(rdma_destroy_id(request), "rdma_destroy_id");
    static_cast<void>(at_client.next(RDMA_CM_EVENT_REJECTED));
  }
  const End unheard(resolved(at_client, port));
  unheard.connect();
  EXPECT_TRUE(readable(at_server.channel->fd));
  must(rdma_destroy_id(listener), "rdma_destroy_id");
  static_cast<void>(at_client.next(RDMA_CM_EVENT_REJECTED));
  const End alone(resolved(at_client, port));
  alone.connect();
  static_cast<void>(at_client.next(RDMA_CM_EVENT_REJECTED));
}

// Synchronous operation: identifiers with channels and queues that the library makes.
rdma_cm_id* endpoint(const std::string& port, int flags) {
  rdma_addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_port_space = RDMA_PS_TCP;
  rdma_addrinfo* at = nullptr;
  must(rdma_getaddrinfo("127.0.0.1", port.c_str(), &hints, &at), "rdma_getaddrinfo");
  ibv_qp_init_attr attributes{};
  attributes.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
  rdma_cm_id* id = nullptr;
  must(rdma_create_ep(&id, at, nullptr, &attributes), "rdma_create_ep");
  rdma_freeaddrinfo(at);
  return id;
}

void use_endpoints() {
  rdma_cm_id* const listener = endpoint("0", RAI_PASSIVE);
  must(rdma_listen(listener, 1), "rdma_listen");
  rdma_cm_id* const client = endpoint(std::to_string(port_of(listener)), 0);
  auto connected = std::async(std::launch::async, [&] { must(rdma_connect(client, nullptr), "rdma_connect"); });
  rdma_cm_id* server = nullptr;
  must(rdma_get_request(listener, &server), "rdma_get_request");
  must(rdma_accept(server, nullptr), "rdma_accept");
  connected.get();
  must(rdma_disconnect(client), "rdma_disconnect");
  must(rdma_disconnect(server), "rdma_disconnect");
  for (rdma_cm_id* const id : {client, server, listener}) rdma_destroy_ep(id);
}

void use_devices() {
  int devices = 0;
  ibv_context** const opens = must(rdma_get_devices(&devices), "rdma_get_devices");
  EXPECT_GT(devices, 0);
  rdma_free_devices(opens);
}

void use_everything() {
  use_verbs();
  use_connection(true);
  use_connection(false);
  use_refusals();
  use_endpoints();
  use_devices();
}

// --- What they leave

// The first test: nothing has used librdmacm before.
TEST(Leftovers, OfLibibverbsNothing) {
  const Counted before = count();
  for (int round = 0; round < kRounds; ++round) use_verbs();
  EXPECT_EQ(count(), before);
}

TEST(Leftovers, OfLibrdmacmNoMoreThanOfItsFirstUse) {
  std::thread([] {}).join();  // with the first one ThreadSanitizer starts a thread of its own
  const std::size_t before = threads();
  const auto sockets = [] {
    return std::ranges::count_if(descriptors(), [](const auto& what) { return what.starts_with("socket:"); });
  };
  const auto sockets_before = sockets();
  use_everything();
  // The one that is left tells of changes to the interfaces.
  wait_until([&] { return sockets() <= sockets_before + 1; }, "the connections to be closed");
  const std::size_t progress = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 4, 1, 8);
  wait_until([&] { return threads() <= before + 1 + progress; }, "all threads to end but weft's own");
  const Counted first = count();
  for (int round = 1; round < kRounds; ++round) {
    use_everything();
    expect_no_more_than(first, round);
  }
}

}  // namespace
}  // namespace weft::compat::test
