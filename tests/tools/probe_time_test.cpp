// SPDX-License-Identifier: Apache-2.0
// The verdicts of `weft probe` do not depend on how long a correct peer takes, nor on what lies between: a far peer, one
// that is stopped three quarters of the time, a prober that gets little of the processor.
#include <gmock/gmock.h>

#include <csignal>

#include "peer_caller.hpp"
#include "probe_run.hpp"
#include "relay.hpp"

namespace weft::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// Cases that wait for silence, or in which the peer answers late or not at all.
Arguments waiting() {
  return {"--only",
          "order-within-ord,order-up-to-ord,order-fence,order-read-held-back,order-send-held-back,request-fence,"
          "request-waited-for,enhanced-rtr,enhanced-rtr-other,untagged-msn-skipped,untagged-rsvdulp-differs,"
          "fpdu-stall,fpdu-length-announced,answer-order,terminate-each-error,request-rejected,close-graceful"};
}

struct Manner {
  const char* name{};
  RelayManner manner{};
};
void PrintTo(const Manner& manner, std::ostream* out) { *out << manner.name; }

class Through : public testing::TestWithParam<Manner> {};

TEST_P(Through, ARelayTheVerdictsAreTheSame) {
  const ListeningPeer peer;
  const Arguments cases = joined({"--profile", "weft"}, waiting());
  const auto plain = probed(joined(cases, {peer.at().to_string()}));
  const Relay relay(peer.at().port, GetParam().manner);
  const auto relayed = probed(joined(cases, {relay.at()}));
  EXPECT_EQ(plain.verdicts, relayed.verdicts) << relayed.ended.out;
  EXPECT_GE(plain.passed, 12U) << plain.ended.out;
  EXPECT_EQ(relayed.ended.exit_code, 0) << relayed.ended.out;
}
INSTANTIATE_TEST_SUITE_P(Relays, Through,
                         testing::Values(Manner{"late", {.to_peer = milliseconds(100), .from_peer = milliseconds(100)}},
                                         Manner{"glued", {.from_peer = milliseconds(150)}},
                                         Manner{"single", {.single = true}}),
                         [](const auto& one) { return one.param.name; });

// A reset in place of a FIN is a warning at most: what made it cannot be seen.
TEST(ThroughARelay, ThatResetsNothingFails) {
  const ListeningPeer peer;
  const Relay relay(peer.at().port, {.reset = true});
  const auto run = probed(
      {"--profile", "weft", "--only", "close-,terminate-each-error,crc-wrong-write,tagged-unknown-stag", relay.at()});
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.out;
}

TEST(FarPeer, IsMeasuredAndReported) {
  const ListeningPeer peer;
  const Relay relay(peer.at().port, {.to_peer = milliseconds(60), .from_peer = milliseconds(60)});
  const TemporaryDirectory folder;
  const Ended ended =
      probe_by({"--profile", "weft", "--only", "order-fence", "--json", folder.file("r.json"), relay.at()});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("the longest round trip took "));
  std::ifstream file(folder.file("r.json"));
  const auto report = nlohmann::json::parse(file);
  EXPECT_GE(report.at("round_trip_us"), 120'000);
  EXPECT_GE(report.at("quiet_ms"), 150 + 2 * 120);
}

// The process of the peer runs for a quarter of the time.
class Stopper {
 public:
  Stopper(const Command& peer, milliseconds stopped, milliseconds running)
      : thread_([&peer, stopped, running](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            peer.signal(SIGSTOP);
            std::this_thread::sleep_for(stopped);
            peer.signal(SIGCONT);
            std::this_thread::sleep_for(running);
          }
        }) {}

 private:
  std::jthread thread_;
};

TEST(PeerThatIsStopped, ThreeQuartersOfTheTimeKeepsItsVerdicts) {
  ListeningPeer peer;
  const Stopper stopper(peer.command(), milliseconds(225), milliseconds(75));
  // The peer has a quarter of what the machine's other work leaves it.
  const auto run =
      probed(joined(joined({"--profile", "weft", "--patience", "20000"}, waiting()), {peer.at().to_string()}));
  EXPECT_EQ(run.ended.exit_code, 0) << run.ended.out;
  for (const auto& [name, verdict] : run.verdicts)
    EXPECT_THAT(verdict, testing::AnyOf("pass", "not_applicable")) << name;
}

}  // namespace
}  // namespace weft::test
