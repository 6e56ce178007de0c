// SPDX-License-Identifier: Apache-2.0
// StartupPolicy::checked_memory: what the program has unmapped ends a connection and not the process; all else is as ever.
#include <sys/mman.h>

#include <array>
#include <cstring>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

constexpr std::size_t kPage = 4096;

// Three pages, of which the one in the middle goes.
class Pages {
 public:
  explicit Pages(End& end)
      : start_(static_cast<std::byte*>(
            ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        region(must(end.domain.register_memory(start_, 3 * kPage, kAllAccess, {}), "register")) {}
  ~Pages() { ::munmap(start_, 3 * kPage); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  // As if unmapped, for the kernel as for weft. Into a real hole another thread's memory may be mapped, which weft would write
  // to, and which would go with these pages.
  void unmap() const { ::mprotect(start_ + kPage, kPage, PROT_NONE); }
  [[nodiscard]] Sge sge() const { return region.sge(); }
  [[nodiscard]] std::byte* octets() const { return start_; }

 private:
  std::byte* start_;

 public:
  MemoryRegion region;
};

PairOptions checked() {
  PairOptions options;
  options.client_policy.startup.checked_memory = options.server_policy.startup.checked_memory = true;
  return options;
}

struct CheckedMemory : testing::Test {
  Pair pair{checked()};
  Pages remote{pair.server};
  Pages local{pair.client};

  WcStatus operate(SendOpcode opcode, Sge sge) {
    must(pair.client.qp->post_send({.opcode = opcode,
                                    .flags = SendFlags::kSignaled,
                                    .segments = {&sge, 1},
                                    .remote_address = remote.region.iova(),
                                    .rkey = remote.region.rkey()}),
         "post_send");
    return pair.client.next().status;
  }
  WcStatus operate(SendOpcode opcode) { return operate(opcode, local.sge()); }
  // The server's end sees that its own memory is at fault, or the client's hears of it.
  void expect_error_at_server() {
    wait_until([&] { return pair.server.qp->state() == QpState::kError; }, "the end of the stream");
  }
};

TEST_F(CheckedMemory, CarriesEverythingAsEver) {
  std::memset(local.octets(), 7, 3 * kPage);
  ASSERT_EQ(operate(SendOpcode::kRdmaWrite), WcStatus::kSuccess);
  const Sge inbox = remote.sge();
  must(pair.server.qp->post_receive({.wr_id = 1, .segments = {&inbox, 1}}), "post_receive");
  std::memset(local.octets(), 8, 3 * kPage);
  ASSERT_EQ(operate(SendOpcode::kSend), WcStatus::kSuccess);
  ASSERT_EQ(pair.server.next().status, WcStatus::kSuccess);
  EXPECT_EQ(remote.octets()[3 * kPage - 1], std::byte{8});
  std::memset(remote.octets(), 9, 3 * kPage);
  ASSERT_EQ(operate(SendOpcode::kRdmaRead), WcStatus::kSuccess);
  EXPECT_EQ(local.octets()[0], std::byte{9});
  EXPECT_EQ(local.octets()[3 * kPage - 1], std::byte{9});
}

TEST_F(CheckedMemory, AWriteToWhatIsUnmapped) {
  remote.unmap();
  static_cast<void>(operate(SendOpcode::kRdmaWrite));  // it may be on the wire before the Terminate comes
  expect_error_at_server();
}

TEST_F(CheckedMemory, AReadOfWhatIsUnmapped) {
  remote.unmap();
  EXPECT_NE(operate(SendOpcode::kRdmaRead), WcStatus::kSuccess);
  expect_error_at_server();
}

TEST_F(CheckedMemory, AReadIntoWhatIsUnmapped) {
  local.unmap();
  EXPECT_NE(operate(SendOpcode::kRdmaRead), WcStatus::kSuccess);
}

TEST_F(CheckedMemory, ASendOfWhatIsUnmapped) {
  local.unmap();
  EXPECT_EQ(operate(SendOpcode::kSend), WcStatus::kLocalProtectionError);
}

TEST_F(CheckedMemory, AReceiveInWhatIsUnmapped) {
  const Sge inbox = remote.sge();
  must(pair.server.qp->post_receive({.wr_id = 1, .segments = {&inbox, 1}}), "post_receive");
  remote.unmap();
  static_cast<void>(operate(SendOpcode::kSend));
  expect_error_at_server();
}

TEST_F(CheckedMemory, AnAtomicOnWhatIsUnmapped) {
  remote.unmap();
  const Sge word = local.region.sge(0, 8);
  must(pair.client.qp->post_send({.opcode = SendOpcode::kFetchAndAdd,
                                  .flags = SendFlags::kSignaled,
                                  .segments = {&word, 1},
                                  .remote_address = remote.region.iova() + kPage,
                                  .rkey = remote.region.rkey(),
                                  .swap_or_add = 1}),
       "post_send");
  EXPECT_NE(pair.client.next().status, WcStatus::kSuccess);
}

}  // namespace
}  // namespace weft::verbs::test
