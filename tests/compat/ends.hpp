// SPDX-License-Identifier: Apache-2.0
// A connection as a program has it, through <rdma/rdma_cma.h> and <infiniband/verbs.h> alone. What fails throws.
#pragma once

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace weft::compat::test {

inline constexpr std::chrono::seconds kPatience{60};  // sanitizers and a shared machine are slow

// The answer of a call that says 0, or a pointer, when it was done.
void must(int answer, const char* call);
void must_be_there(const void* pointer, const char* call);
template <typename T>
T* must(T* made, const char* call) {
  must_be_there(made, call);
  return made;
}

// Waits until there is something to read; false when kPatience is over.
bool readable(int descriptor);
void wait_until(const std::function<bool()>& done, const char* what);

// Where an end's memory is. The ends tell each other, as private data of their connection.
struct Place {
  std::uint64_t address{};
  std::uint32_t rkey{};
};

struct Happened {
  rdma_cm_id* id{};
  Place place{};  // of the peer, where the event has private data
};

struct Events {
  Events();
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // The next event, which has to be of this type; it is acknowledged.
  [[nodiscard]] Happened next(rdma_cm_event_type wanted) const;

  rdma_event_channel* channel;
};

inline sockaddr_in loopback(unsigned port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}
inline sockaddr* plain(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

[[nodiscard]] rdma_cm_id* create_id(const Events& events, rdma_port_space space);
// Identifiers on 127.0.0.1: one that listens at a port of the system's choice, and one that has its route to `port`.
[[nodiscard]] rdma_cm_id* listening(const Events& events, rdma_port_space space = RDMA_PS_TCP);
[[nodiscard]] rdma_cm_id* resolved(const Events& events, std::uint16_t port, rdma_port_space space = RDMA_PS_TCP);

struct EndOptions {
  std::uint32_t depth = 16;
  std::size_t octets = 4096;
  bool shared_receives = false;
};

// An identifier, which it owns, with its queue pair and all that this needs.
struct End {
  explicit End(rdma_cm_id* identifier, const EndOptions& options = {});
  ~End();  // takes down what is left, in the order in which a program has to
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  // Both only ask; the event channel has the answer.
  void connect() const;
  void accept() const;

  void post_receive(std::uint64_t wr_id) const;
  // All of the memory, signaled. `at` for RDMA Write and Read.
  void post_send(std::uint64_t wr_id, ibv_wr_opcode opcode, const Place& at = {}) const;
  // Waits until there are `count` completions.
  [[nodiscard]] std::vector<ibv_wc> completions(std::size_t count) const;
  [[nodiscard]] ibv_qp_state state() const;  // as ibv_query_qp(3) says it

  rdma_cm_id* id;
  std::vector<std::byte> memory;
  ibv_pd* domain;
  ibv_comp_channel* announcements;
  ibv_cq* queue;
  ibv_srq* shared = nullptr;
  ibv_mr* region;

 private:
  [[nodiscard]] Place place() const;
  [[nodiscard]] ibv_sge all() const;
};

// Two of them, connected.
struct Connected {
  explicit Connected(const EndOptions& options = {});
  ~Connected();
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;

  const Events events;  // of both ends, and of the listener
  rdma_cm_id* const listener;
  End client;
  std::optional<End> server;
};

}  // namespace weft::compat::test
