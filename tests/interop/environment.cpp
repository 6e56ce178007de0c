// SPDX-License-Identifier: Apache-2.0
// After the last test: the VM goes off, and tshark reads every packet that crossed the guest's network card. qemu
// recorded them, so weft's own capture tap has no part in this.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "tests/captures/crc_walk.hpp"
#include "tests/captures/tshark.hpp"
#include "tests/interop/vm.hpp"
#include "tests/interop/weft_end.hpp"

namespace weft::interop {
namespace {

class PowerOff : public testing::Environment {
 public:
  void TearDown() override {
    if (!Vm::booted()) return;
    Vm::instance().power_off();
    if (!captures::have_tshark()) {
      std::puts("SKIPPED: tshark is not installed: the packets of this run are not looked at");
      return;
    }
    const captures::Verdict seen = captures::judge(Vm::instance().packets());
    EXPECT_GT(seen.good_crcs, 0U);
    const testing::UnitTest& program = *testing::UnitTest::GetInstance();
    if (program.test_to_run_count() == program.total_test_count()) {
      EXPECT_GT(seen.fpdus, seen.good_crcs) << "some connections had no CRC";
    }
    expect_good_fpdus(seen);
    Vm::instance().forget_packets();
  }

 private:
  // A walk along the stream judges every CRC. tshark's own verdict counts where it sees the same FPDUs: qemu's TCP cuts
  // the stream where it likes, and tshark then may lose its place, and read payload as FPDUs from there on. Seen once:
  // its "CRCs" 44 4f 5a 65 were our test pattern, in a stream that siw took.
  static void expect_good_fpdus(const captures::Verdict& seen) {
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::size_t> walked;
    std::set<std::pair<std::uint16_t, std::uint16_t>> bad;
    for (const captures::Connection& connection : captures::read_connections(Vm::instance().packets())) {
      const auto [client, server] = std::pair{connection.client_port, connection.server_port};
      for (const auto side : {captures::Side::kClient, captures::Side::kServer}) {
        const captures::CrcWalk walk = captures::walk_crcs(connection, side);
        const auto stream = side == captures::Side::kClient ? std::pair{client, server} : std::pair{server, client};
        if (walk.bad != 0) {
          std::printf("%zu bad CRCs from port %d to %d\n", walk.bad, stream.first, stream.second);
          bad.insert(stream);
        }
        walked[stream] += walk.fpdus;
      }
    }
    EXPECT_EQ(bad.size(), SiwSentBadCrc::count) << "streams with bad CRCs, and those in which weft found siw's";
    for (const auto& [stream, tally] : seen.streams) {
      if (bad.contains(stream)) continue;
      if (tally.fpdus == walked[stream]) {
        EXPECT_EQ(tally.bad_crcs, 0U) << "from port " << stream.first << " to " << stream.second;
        EXPECT_EQ(tally.malformed, 0U) << "from port " << stream.first << " to " << stream.second;
        continue;
      }
      std::printf("tshark sees %zu FPDUs (%zu bad CRCs) from port %d to %d, where there are %zu\n", tally.fpdus,
                  tally.bad_crcs, stream.first, stream.second, walked[stream]);
    }
  }
};

const testing::Environment* const power_off = testing::AddGlobalTestEnvironment(new PowerOff);

}  // namespace
}  // namespace weft::interop
