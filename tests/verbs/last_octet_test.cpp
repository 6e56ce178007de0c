// SPDX-License-Identifier: Apache-2.0
// An application that waits for an RDMA Write looks at its last octet in memory, without any verb, and then finds all
// others: over real TCP, for every length, wherever the Write begins and however it is cut into FPDUs.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <thread>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Written {
  std::uint32_t size{};
  std::size_t from{};  // in the source
  std::size_t to{};    // in the target
};
using Batch = std::vector<Written>;

constexpr std::size_t kInFlight = 16, kMargin = 64, kSource = 1 << 20, kTarget = 4 << 20;

// Side by side, with octets between them that must not change.
Batch batch_of(std::uint32_t first_size, std::uint32_t step) {
  Batch batch;
  std::size_t to = 1;
  for (std::uint32_t i = 0; i < kInFlight; ++i) {
    const std::uint32_t size = first_size + i * step;
    batch.push_back({.size = size, .from = (size * 7 + i) % 4096, .to = to});
    to += size + kMargin + size % 3;
  }
  return batch;
}

// Every size up to 4096, and some that take many reads of the socket.
std::vector<Batch> batches() {
  std::vector<Batch> all;
  for (std::uint32_t size = 1; size <= 4096; size += kInFlight) all.push_back(batch_of(size, 1));
  for (std::uint32_t size = 5000; size < 120000; size += 7919) all.push_back(batch_of(size, 5003));
  return all;
}

// The target's application: it only looks at its memory.
class Watcher {
 public:
  Watcher(const std::vector<std::byte>& source, std::vector<std::byte>& target) : source_(source), target_(target) {}

  std::atomic<std::size_t> seen{0};  // batches that arrived, were compared, and are wiped again
  std::atomic<bool> gave_up{false};
  std::size_t wrong = 0;

  void watch(const std::vector<Batch>& all) {
    for (const Batch& batch : all) {
      // Not in the order of posting only: later Writes are then looked at while earlier ones may still arrive.
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (!look(batch[i % 2 == 0 ? i : batch.size() - i])) return;
      }
      const auto& end = batch.back();
      // An octet outside the Writes
      if (std::memcmp(target_.data(), nothing_.data(), end.to + end.size + kMargin) != 0) ++wrong;
      seen.store(seen.load() + 1, std::memory_order_release);
    }
  }

 private:
  static constexpr std::byte kNone{0};

  bool look(const Written& write) {
    const std::span octets = std::span(target_).subspan(write.to, write.size);
    const std::atomic_ref last(octets.back());
    const auto limit = Clock::now() + kPatience;
    for (unsigned i = 0; last.load(std::memory_order_acquire) == kNone; ++i) {
      if (i % 64 != 63) continue;
      std::this_thread::yield();
      if (Clock::now() > limit) return gave_up = true, false;
    }
    // The last but one first, for a copy that is still under way is expected to end there.
    const std::byte* expected = source_.data() + write.from;
    const std::size_t before = write.size - 1;
    const bool next = before == 0 || octets[before - 1] == expected[before - 1];
    if (!next || std::memcmp(octets.data(), expected, write.size) != 0) ++wrong;
    std::memset(octets.data(), 0, octets.size());
    return true;
  }

  const std::vector<std::byte>& source_;
  std::vector<std::byte>& target_;
  const std::vector<std::byte> nothing_ = std::vector<std::byte>(kTarget);
};

struct Cut {
  const char* name;
  bool crc, markers;
  std::uint32_t max_ulpdu;
};

class LastOctet : public ::testing::TestWithParam<Cut> {};

void post(Pair& pair, const Buffer& source, const Buffer& target, const Batch& batch) {
  std::array<Sge, kInFlight> segments;
  std::array<SendRequest, kInFlight> work;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    segments[i] = source.sge(batch[i].from, batch[i].size);
    work[i] = {.opcode = SendOpcode::kRdmaWrite,
               .flags = i + 1 == batch.size() ? SendFlags::kSignaled : SendFlags::kNone,
               .segments = {&segments[i], 1},
               .remote_address = target.remote() + batch[i].to,
               .rkey = target.region.rkey()};
  }
  ASSERT_TRUE(pair.client.qp->post_send(work));
}

TEST_P(LastOctet, IsVisibleWhenAllOthersAre) {
  const Cut& cut = GetParam();
  const Policy policy{.startup = {.crc = cut.crc, .markers = cut.markers, .max_ulpdu = cut.max_ulpdu}};
  Pair pair({.client_policy = policy, .server_policy = policy});
  Buffer source(pair.client, kSource), target(pair.server, kTarget);
  source.fill(1);
  std::ranges::replace(source.octets, std::byte{0}, std::byte{1});  // 0: nothing arrived yet
  const auto all = batches();
  Watcher watcher(source.octets, target.octets);
  std::thread watching([&] { watcher.watch(all); });
  for (std::size_t i = 0; i < all.size() && !watcher.gave_up && !HasFailure(); ++i) {
    post(pair, source, target, all[i]);
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
    while (watcher.seen.load(std::memory_order_acquire) == i && !watcher.gave_up) std::this_thread::yield();
  }
  watching.join();
  EXPECT_FALSE(watcher.gave_up) << "batch " << watcher.seen;
  EXPECT_EQ(watcher.wrong, 0U);
}

INSTANTIATE_TEST_SUITE_P(Cuts, LastOctet,
                         ::testing::Values(Cut{"Small", true, false, 128}, Cut{"Ethernet", true, false, 1442},
                                           Cut{"Large", true, false, 0}, Cut{"LargeWithoutCrc", false, false, 0},
                                           Cut{"EthernetWithMarkers", true, true, 1442}),
                         [](const auto& info) { return std::string(info.param.name); });

// The word of T that ends a Write of `size` octets changes as a whole: all of its octets are equal in every Write.
template <typename T>
void last_word_is_whole(std::uint32_t size) {
  Pair pair;
  Buffer source(pair.client, 64), target(pair.server, 64);
  const std::size_t at = size - sizeof(T);
  std::atomic<bool> over{false};
  std::atomic<unsigned> changes{0};
  std::size_t torn = 0;
  std::thread watching([&] {
    const std::atomic_ref word(*reinterpret_cast<T*>(target.octets.data() + at));
    T before = 0;
    for (unsigned i = 0; !over.load(std::memory_order_relaxed); ++i) {
      const T now = word.load(std::memory_order_acquire);
      if (i % 64 == 63) std::this_thread::yield();  // to the writer, if there is one processor
      if (now == before) continue;
      before = now;
      ++changes;
      if (now != static_cast<T>(std::numeric_limits<T>::max() / 255 * (now & 0xff))) ++torn;
    }
  });
  const auto limit = Clock::now() + kPatience;
  for (unsigned i = 0; changes < 200 && Clock::now() < limit && !::testing::Test::HasFailure(); ++i) {
    std::memset(source.octets.data(), static_cast<int>(i % 251 + 1), size);
    const Sge whole = source.sge(0, size);
    EXPECT_TRUE(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaWrite,
                                           .flags = SendFlags::kSignaled,
                                           .segments = {&whole, 1},
                                           .remote_address = target.remote(),
                                           .rkey = target.region.rkey()}));
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  }
  over = true;
  watching.join();
  EXPECT_EQ(torn, 0U);
  EXPECT_GE(changes, 200U);
}

TEST(LastWord, ChangesAsAWhole) {
  last_word_is_whole<std::uint64_t>(16);
  last_word_is_whole<std::uint64_t>(8);
  last_word_is_whole<std::uint32_t>(12);
  last_word_is_whole<std::uint32_t>(4);
}

}  // namespace
}  // namespace weft::verbs::test
