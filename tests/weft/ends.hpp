// SPDX-License-Identifier: Apache-2.0
// Two connected ends of the C++ interface in one process.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "verbs/connection.hpp"
#include "weft/weft.hpp"

namespace weft::test {

using namespace std::chrono_literals;

inline constexpr auto kPatience = 20s;  // sanitizers and a shared machine are slow
inline constexpr Access kEverything =
    Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead | Access::kRemoteAtomic;

// The value, or the end of the test with the error's sentence.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Ends {
  explicit Ends(const std::function<void(Connection& client, Connection& server)>& before = {},
                const verbs::Policy& policy = {})
      : listener(must(Listener::listen({"127.0.0.1", 0}, policy))),
        client(prepared(policy)),
        server(connected(before)) {}

  Listener listener;
  Connection client;
  Connection server;

 private:
  [[nodiscard]] Connection prepared(const verbs::Policy& policy) const {
    Connection made = must(Connection::prepare(listener.local()));
    EXPECT_TRUE(made.id().set_policy(policy));
    return made;
  }
  Connection connected(const std::function<void(Connection& client, Connection& server)>& before) {
    Result<void> answer;
    std::jthread initiator([&] { answer = client.establish(kPatience); });
    Connection accepted = must(listener.next(kPatience));
    if (before) before(client, accepted);
    must(accepted.establish(kPatience));
    initiator.join();
    must(answer);
    return accepted;
  }
};

// Memory of one end, and where the other end finds it.
struct Memory {
  explicit Memory(Connection& end, std::size_t size = 64, unsigned char first = 0, Access access = kEverything)
      : octets(size), region(must(end.register_memory(octets, access))) {
    for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<unsigned char>(first + i);
  }
  std::vector<unsigned char> octets;
  Region region;
  [[nodiscard]] RemoteRegion remote() const { return region.remote(); }
};

}  // namespace weft::test
