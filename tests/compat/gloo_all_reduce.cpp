// SPDX-License-Identifier: Apache-2.0
// An all-reduce of gloo over its ibverbs transport, by two algorithms and for three sizes: RANK RANKS FOLDER DEVICE. Ranks find each
// other by files in FOLDER. Prints "ranks: N, all sums are right".
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Sum {
  std::vector<float> numbers;
  std::unique_ptr<gloo::Algorithm> algorithm;

  template <typename Algorithm>
  static Sum with(const std::shared_ptr<gloo::Context>& context, std::size_t count) {
    Sum made{std::vector<float>(count), nullptr};
    made.algorithm =
        std::make_unique<Algorithm>(context, std::vector<float*>{made.numbers.data()}, static_cast<int>(count));
    return made;
  }
  bool is_right(int rank, int ranks) {
    std::fill(numbers.begin(), numbers.end(), static_cast<float>(rank + 1));
    algorithm->run();
    const auto expected = static_cast<float>(ranks * (ranks + 1) / 2);
    return std::all_of(numbers.begin(), numbers.end(), [&](float number) { return number == expected; });
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int rank = std::atoi(argv[1]);
  const int ranks = std::atoi(argv[2]);
  gloo::rendezvous::FileStore store(argv[3]);
  const auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  auto device = gloo::transport::ibverbs::CreateDevice({argv[4], 1, 0});
  context->connectFullMesh(store, device);

  std::vector<Sum> sums;
  for (const std::size_t count : {1U, 1000U, 1000000U}) {
    sums.push_back(Sum::with<gloo::AllreduceRing<float>>(context, count));
    sums.push_back(Sum::with<gloo::AllreduceHalvingDoubling<float>>(context, count));
  }
  bool right = true;
  for (int round = 0; round < 10; ++round) {
    for (Sum& sum : sums) right = sum.is_right(rank, ranks) && right;
  }
  // Nobody leaves while another one works; and no destructor runs: those of gloo's buffers abort if a send has not completed, and
  // nothing waits for that.
  store.set("done" + std::to_string(rank), {1});
  std::vector<std::string> all;
  for (int other = 0; other < ranks; ++other) all.push_back("done" + std::to_string(other));
  store.wait(all);
  if (right) std::printf("ranks: %d, all sums are right\n", ranks);
  std::fflush(stdout);
  std::quick_exit(right ? 0 : 1);
}
