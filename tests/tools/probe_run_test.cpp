// SPDX-License-Identifier: Apache-2.0
// The whole of `weft probe` against `weft probe-peer`: weft keeps what the prober asks for, and the reports say so.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "peer_caller.hpp"
#include "probe/plan/plan.hpp"
#include "probe/way.hpp"
#include "probe_run.hpp"
#include "unwrapped.hpp"

namespace weft::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Arguments at(const ListeningPeer& peer) { return {"--profile", "weft", peer.at().to_string()}; }

class EveryCase : public testing::TestWithParam<const char*> {};

TEST_P(EveryCase, PassesOrDoesNotApply) {
  const ListeningPeer peer(GetParam());
  // Time-outs once are enough.
  const Arguments which = std::string(GetParam()) == "::1" ? quick() : Arguments{"--depth", "quick"};
  expect_clean(probed(joined(at(peer), which)), 200);
}
INSTANTIATE_TEST_SUITE_P(Over, EveryCase, testing::Values("127.0.0.1", "::1"));

// Legal messages that nobody asked for, at any time, are no finding.
TEST(ChattyPeer, PassesEveryCase) {
  const ListeningPeer quiet, chatty("127.0.0.1", {"--chatty"});
  const auto plain = probed(joined(at(quiet), by_hand())), chats = probed(joined(at(chatty), by_hand()));
  expect_clean(chats, 200);
  EXPECT_EQ(plain.verdicts, chats.verdicts) << chats.ended.out;
}

// The two tests beside mean nothing of a peer that is as quiet as any: it says all three, and again when its Read is answered.
TEST(ChattyPeer, SaysWhatNobodyAskedFor) {
  const ListeningPeer peer("127.0.0.1", {"--chatty"});
  const auto way = probe::way_to_listener("weft", peer.at());
  std::unique_ptr<probe::Conversation> by;
  way->open({}, by);
  for (int times = 0; times < 3; ++times) {
    EXPECT_NO_THROW({
      by->expect_message(rdmap::Opcode::kWrite);
      by->expect_message(rdmap::Opcode::kSend, nullptr, probe::send_of(7));
      const auto read = by->expect_read_request(0);
      by->send_ulpdu(by->make().read_response(read.sink_stag, read.sink_offset, {}));
    });
  }
}

TEST(ChattyPeer, OfAnyKindPasses) {
  const ListeningPeer peer("127.0.0.1", {"--chatty"});
  expect_clean(probed(joined({peer.at().to_string()}, quick())), 60);
}

class Policies : public testing::TestWithParam<const char*> {};

TEST_P(Policies, OfThePeerAreKeptToo) {
  const ListeningPeer peer("127.0.0.1", {"--policy", GetParam()});
  expect_clean(probed(joined(at(peer), quick())), 150);
}
INSTANTIATE_TEST_SUITE_P(Of, Policies, testing::Values("crc=off", "markers=on", "crc=off,markers=on", "mpa-rev=1"));

TEST(PeerOfRevision1, IsProbedByRevision1) {
  const ListeningPeer peer("127.0.0.1", {"--policy", "mpa-rev=1"});
  const auto run = probed(joined(at(peer), {"--only", "request-fence,request-revision-2-plain,enhanced-"}));
  expect_clean(run, 3);
  EXPECT_EQ(run.verdicts.at("request-fence"), "pass");
  EXPECT_EQ(run.verdicts.at("request-revision-2-plain"), "pass") << "it may close";
  EXPECT_EQ(run.verdicts.at("enhanced-answered"), "pass") << "it may close";
  EXPECT_EQ(run.verdicts.at("enhanced-rtr"), "not_applicable");
  EXPECT_THAT(run.ended.out, HasSubstr("MPA revision 1, not enhanced"));
}

// Its Replies to the peer-to-peer model all reject. The other cases follow from the one that tells so.
TEST(PeerWithoutRtr, FailsOneCase) {
  const ListeningPeer peer("127.0.0.1", {"--policy", "rtr=none"});
  const auto run = probed(joined(at(peer), {"--only", "enhanced-"}));
  EXPECT_EQ(run.verdicts.at("enhanced-rtr-offers"), "fail");
  EXPECT_EQ(std::ranges::count(run.verdicts, "fail", &Verdicts::value_type::second), 1) << run.ended.out;
  EXPECT_EQ(run.verdicts.at("enhanced-rtr"), "not_applicable");
  EXPECT_EQ(run.verdicts.at("enhanced-ird"), "pass");
  EXPECT_THAT(run.ended.out, HasSubstr("MPA2-9.2-05"));
}

TEST(Reruns, GiveTheSameVerdicts) {
  const ListeningPeer peer;
  const auto first = probed(joined(at(peer), by_hand()));
  const auto second = probed(joined(at(peer), joined(by_hand(), {"--at-a-time", "3"})));
  EXPECT_EQ(first.verdicts, second.verdicts);
  EXPECT_GT(first.verdicts.size(), 200U);
}

TEST(Choice, IsByNameAndByClause) {
  const ListeningPeer peer;
  EXPECT_EQ(probed(joined(at(peer), {"--only", "crc-wrong-write"})).verdicts, (Verdicts{{"crc-wrong-write", "pass"}}));
  const auto clause = probed(joined(at(peer), {"--only", "MPA-4.4"}));
  EXPECT_TRUE(clause.verdicts.contains("crc-wrong-write"));
  EXPECT_FALSE(clause.verdicts.contains("fpdu-length-0"));
  const auto without = probed(joined(at(peer), {"--only", "MPA-4.4", "--skip", "crc-wrong-write"}));
  EXPECT_EQ(without.verdicts.size() + 1, clause.verdicts.size());
}

// A name of the report repeats that combination, whatever the depth; its first labels select all that begin so.
TEST(Choice, IsByCombination) {
  const ListeningPeer peer;
  const std::string name = "crc.after-32.terminate.bit-31.whole.glued";
  EXPECT_EQ(probed(joined(at(peer), {"--depth", "quick", "--only", name})).verdicts, (Verdicts{{name, "pass"}}));
  const auto many = probed(joined(at(peer), {"--only", "stag.first.read"}));
  EXPECT_EQ(many.verdicts.size(), 30U) << "ten STags, three deliveries";
  EXPECT_EQ(many.passed, 30U) << many.ended.out;
  const Ended wrong = probe_by(joined(at(peer), {"--only", "crc.after-33"}));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("no combination has the name 'crc.after-33'"));
  EXPECT_EQ(probe_by(joined(at(peer), {"--depth", "deeper"})).exit_code, 2);
}

// Of the sample, with the exit code and the sizes of reports for people.
TEST(Choice, IsByDepth) {
  const ListeningPeer peer;
  const Ended empty = probe_by(joined(at(peer), {"--depth", "quick", "--only", "crc."}));
  EXPECT_EQ(empty.exit_code, 2) << "no label is empty";
  const auto sampled = probed(joined(at(peer), {"--depth", "quick", "--only", "queue,msn,mo"}));
  const auto normal = probed(joined(at(peer), {"--depth", "normal", "--only", "queue,msn,mo"}));
  EXPECT_GT(sampled.verdicts.size(), 30U);
  EXPECT_GT(normal.verdicts.size(), 2 * sampled.verdicts.size());
  EXPECT_EQ(normal.ended.exit_code, 0) << normal.ended.out;
}

// Whole it takes minutes: one rule of startup frames, one of headers, one of memory.
TEST(DeepPlan, PassesOrDoesNotApply) {
  const ListeningPeer peer;
  const auto run = probed(joined(at(peer), {"--depth", "deep", "--only", "request-good,mo,rights"}));
  expect_clean(run, 200);
}

TEST(Choice, IsListed) {
  const Ended listed = probe_by({"--list"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_THAT(listed.out, HasSubstr("\ncrc."));
  for (const probe::Case& one : probe::all_cases()) EXPECT_THAT(listed.out, HasSubstr(std::string(one.name) + " "));
}

TEST(Choice, OfCasesOfTheOtherRoleJudgesNothing) {
  const ListeningPeer peer;
  std::string name;
  for (const probe::Case& one : probe::all_cases()) {
    if ((one.needs & probe::kConnects) != 0) name = one.name;
  }
  ASSERT_FALSE(name.empty());
  const auto run = probed(joined(at(peer), {"--only", name}));
  EXPECT_EQ(run.verdicts, (Verdicts{{name, "not_applicable"}}));
}

TEST(Output, IsNothingWhereQuiet) {
  const ListeningPeer peer;
  const Ended quiet = probe_by(joined(at(peer), {"--quiet", "--only", "crc-wrong-write"}));
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST(Output, HasALineForEachCaseWhereVerbose) {
  const ListeningPeer peer;
  const Ended run = probe_by(joined(at(peer), {"-v", "--only", "crc-wrong-write"}));
  EXPECT_THAT(run.out, HasSubstr("[1/1] pass  "));
  EXPECT_THAT(run.out, HasSubstr("\nNO FAILURE: 1 case: 1 pass"));
}

TEST(Output, HasNoWarningOfWeftThatStrictWouldCount) {
  const ListeningPeer peer;
  EXPECT_EQ(probe_by(joined(at(peer), joined(quick(), {"--strict", "--quiet"}))).exit_code, 0);
}

// Verdicts are counted run by run, and none of weft's differs.
TEST(Repeat, CountsRuns) {
  const ListeningPeer peer;
  const TemporaryDirectory folder;
  const Ended run = probe_by(joined(at(peer), {"--only", "crc-wrong-write,fpdu-length-0", "--repeat", "3", "--title",
                                               "weft <here>", "--json", folder.file("report.json")}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::StartsWith("weft <here>\n"));
  std::ifstream file(folder.file("report.json"));
  const auto report = nlohmann::json::parse(file);
  EXPECT_EQ(report.at("runs"), 3);
  EXPECT_EQ(report.at("title"), "weft <here>");
  for (const auto& one : report.at("cases")) {
    EXPECT_EQ(one.at("flaky"), false);
    EXPECT_EQ(one.at("verdicts").at("pass"), 3);
  }
}

TEST(Known, FileIsReadBeforeThePeerIsMet) {
  const TemporaryDirectory folder;
  std::ofstream(folder.file("known.txt")) << "crc-wrong-rite\n";
  const Ended wrong = probe_by({"--known", folder.file("known.txt"), "127.0.0.1:1"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("crc-wrong-rite"));
  const ListeningPeer peer;
  std::ofstream(folder.file("known.txt"))
      << "crc-wrong-write # 4711\ncrc.first # all of it\nMPA-4.4-13\nfpdu-length-0\n";
  const Ended run = probe_by(joined(at(peer), {"--only", "crc-wrong-write", "--known", folder.file("known.txt")}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(unwrapped(run.out), HasSubstr("known, but did not occur: crc-wrong-write"));
  EXPECT_THAT(run.out, Not(HasSubstr("fpdu-length-0"))) << "it did not run";
}

std::string octets_of(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Reports, AreWrittenSideBySide) {
  const ListeningPeer peer;
  const TemporaryDirectory folder;
  const Ended run =
      probe_by(joined(at(peer), {"--quiet", "--only", "crc-wrong-write,fpdu-length-0", "--junit", folder.file("j.xml"),
                                 "--html", folder.file("h.html"), "--pcap-dir", folder.file("caps")}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(octets_of(folder.file("j.xml")), HasSubstr("crc-wrong-write"));
  EXPECT_THAT(octets_of(folder.file("h.html")), HasSubstr("crc-wrong-write"));
  EXPECT_THAT(octets_of(folder.file("h.html")), Not(HasSubstr("<script")));
  EXPECT_TRUE(std::filesystem::exists(folder.file("caps/fpdu-length-0.pcap")));
  // The capture shows the prober's fault.
  const Ended audited = weft::test::run({"audit", "--summary", folder.file("caps/crc-wrong-write.pcap")});
  EXPECT_EQ(audited.exit_code, 1) << audited.out << audited.err;
  EXPECT_THAT(audited.out, HasSubstr("MPA-4.4-13"));
}

TEST(Reports, ThatCannotBeWrittenAreAnErrorOfTheirOwn) {
  const ListeningPeer peer;
  for (const char* option : {"--json", "--junit", "--html", "--pcap-dir"}) {
    const Ended run = probe_by(
        joined(at(peer), {"--quiet", "--only", "crc-wrong-write", std::string(option) + "=/no/such/folder/report"}));
    EXPECT_EQ(run.exit_code, 2) << option;
    EXPECT_TRUE(is_one_line(run.err)) << run.err;
    EXPECT_THAT(run.err, HasSubstr("/no/such/folder"));
  }
}

// A pipe whose reader has gone, and a full disk.
TEST(Reports, AreWrittenWhenNobodyReadsTheText) {
  const ListeningPeer peer;
  const std::string target = at(peer).back();
  for (const std::string nobody : {">&4 4>&-", ">/dev/full"}) {
    const TemporaryDirectory folder;
    const std::string script =
        "mkfifo \"$1.pipe\"; exec 3<>\"$1.pipe\"; exec 4>\"$1.pipe\"; exec 3<&-; exec \"$0\" probe -v "
        "--profile weft --only crc-wrong-write,crc-wrong-send --json=\"$1\" " +
        target + ' ' + nobody;
    Command shell({"-c", script, weft_command(), folder.file("f")}, "sh");
    EXPECT_EQ(shell.wait(std::chrono::seconds(120)).exit_code, 2) << nobody;
    std::ifstream file(folder.file("f"));
    const auto report = nlohmann::json::parse(file, nullptr, false);
    ASSERT_TRUE(report.is_object() && report.contains("cases")) << nobody;
    EXPECT_EQ(report.at("cases").size(), 2U) << nobody;
  }
}

TEST(Interruption, EndsTheRunWithAReport) {
  const ListeningPeer peer;
  Command prober(joined({"probe", "-v", "--at-a-time", "1"}, joined(at(peer), quick())));
  ASSERT_TRUE(prober.wait_for_output("[ 1"));
  prober.signal(SIGINT);
  const Ended ended = prober.wait();
  EXPECT_THAT(ended.out, HasSubstr("interrupted before the last case")) << ended.err;
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(Fuzzing, FindsNothingInWeftAndReplays) {
  const ListeningPeer peer;
  const TemporaryDirectory folder;
  const Ended fuzzed =
      probe_by(joined(at(peer), {"--fuzz", "2", "--seed", "7", "--fuzz-dir", folder.file("."), "--patience", "2000"}));
  EXPECT_EQ(fuzzed.exit_code, 0) << fuzzed.out << fuzzed.err;
  EXPECT_THAT(fuzzed.out, HasSubstr("conversations from seed 7, 0 findings"));

  std::ofstream(folder.file("one.case")) << "# weft probe script 1\nstartup revision=2 crc=1 markers=0 s=1\n"
                                            "write region=0/3 offset=-1 size=64 xor=0:40,17:01 crc=00000001\n"
                                            "send size=8 length=ffff cuts=1,3\nfin\n";
  const Ended replayed = probe_by(joined(at(peer), {"--replay", folder.file("one.case")}));
  EXPECT_EQ(replayed.exit_code, 0) << "the example of docs/probe.md: " << replayed.err;
  std::ofstream(folder.file("bad.case")) << "# weft probe script 1\ndance\n";
  const Ended refused = probe_by(joined(at(peer), {"--replay", folder.file("bad.case")}));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("line 2"));
}

}  // namespace
}  // namespace weft::test
