// SPDX-License-Identifier: Apache-2.0
// What programs do to themselves: a fault in one of weft's threads, and a daemon that closes what it does not know.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <vector>

#include "child.hpp"
#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

constexpr int kHandled = 42;

// No thread polls, so weft's progress thread places the Write, in memory that the program has unmapped.
TEST(Child, AFaultInAThreadOfWeftReachesTheProgramsHandler) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const int status = status_of_child(STDERR_FILENO, [] {
    struct sigaction handler{};
    handler.sa_handler = [](int) { ::_exit(kHandled); };
    ::sigaction(SIGSEGV, &handler, nullptr);
    Pair pair;
    constexpr std::size_t kPage = 4096;
    void* const page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const MemoryRegion region = must(pair.server.domain.register_memory(page, kPage, kAllAccess, {}), "register");
    Buffer from(pair.client, 64);
    ::munmap(page, kPage);
    must(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaWrite,
                                    .segments = std::array{from.sge()},
                                    .remote_address = region.iova(),
                                    .rkey = region.rkey()}),
         "write");
    for (;;) ::pause();
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), kHandled);
}

void exchange(Pair& pair) {
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.client.qp->post_send({.wr_id = 2, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled}), "send");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
}

// Its connections live on, and the files that it opens then are its own.
TEST(Child, ADaemonClosesWhatItDoesNotKnow) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const int status = status_of_child(STDERR_FILENO, [] {
    std::vector<int> files;
    {
      Pair pair;
      exchange(pair);
      for (int descriptor = 3; descriptor < 200; ++descriptor) ::close(descriptor);
      while (files.size() < 64)
        files.push_back(::open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
      for (int i = 0; i < 10; ++i) exchange(pair);
    }
    for (const int file : files) {
      struct stat about{};
      EXPECT_EQ(::fstat(file, &about), 0) << "weft has closed it";
      EXPECT_EQ(about.st_size, 0) << "weft has written to it";
    }
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Its connections are lost. When it has destroyed everything, it can make new ones.
TEST(Child, ADaemonThatClosesEverythingCanBeginAnew) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const int status = status_of_child(STDERR_FILENO, [] {
    ::alarm(60);  // instead of waiting for ever
    {
      Pair pair;
      exchange(pair);
      for (int descriptor = 3; descriptor < 2048; ++descriptor) ::close(descriptor);
    }
    Pair anew;
    exchange(anew);
  });
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace weft::verbs::test
