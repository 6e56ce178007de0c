// SPDX-License-Identifier: Apache-2.0
// `weft explain`: pages, text and JSON of a capture and of the tour.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace weft::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string capture(const std::string& name) { return std::string(WEFT_PCAP_SAMPLES) + '/' + name; }

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Explain, WritesAPageThatHoldsTheModel) {
  const TemporaryDirectory folder;
  const std::string page = folder.file("page.html");
  const Ended ended = run({"explain", capture("20-term-write-bad-stag.pcap"), "-o", page});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, page + ": open it in a browser.\n");
  EXPECT_THAT(file_text(page),
              AllOf(StartsWith("<!doctype html>"), HasSubstr("20-term-write-bad-stag.pcap"), HasSubstr("0x9b513000")));
}

TEST(Explain, NamesThePageAfterTheCapture) {
  const TemporaryDirectory folder;
  const std::string script = R"(cd "$1" && "$0" explain "$2" && "$0" explain --demo && ls)";
  const Ended ended = Command({"-c", script, weft_command(), folder.file("."), capture("01-rping.pcap")}, "sh").wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(
      ended.out,
      "01-rping.html: open it in a browser.\nweft-tour.html: open it in a browser.\n01-rping.html\nweft-tour.html\n");
}

TEST(Explain, WritesThePageToStandardOutput) {
  const Ended ended = run({"explain", "--demo", "-o", "-"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(StartsWith("<!doctype html>"), Not(HasSubstr("open it in a browser"))));
}

TEST(Explain, PrintsTheSameModelOfTheTourEveryTime) {
  const Ended once = run({"explain", "--demo", "--json"});
  EXPECT_EQ(once.exit_code, 0) << once.err;
  EXPECT_EQ(run({"explain", "--demo", "--json"}).out, once.out);
  EXPECT_EQ(json::parse(once.out)["source"], "the tour: every operation on one connection");
}

TEST(Explain, PrintsTextWithoutColoursIntoAPipe) {
  const Ended ended = run({"explain", "--text", capture("20-term-write-bad-stag.pcap")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
  for (const char* const words :
       {"SYN", "MPA Request: revision 2, no CRC, IRD 4, ORD 4", "RDMA Write, 100 octets",
        "  mpa         +0  ULPDU_Length                 0x0072  114 octets  (RFC 5044 section 4.1)",
        "2 + 114 = 116, 116 mod 4 = 0: no padding", "refused           by the Terminate in packet 10",
        "Terminate: layer 1, type 1, code 0x00", "FIN"})
    EXPECT_THAT(ended.out, HasSubstr(words));
}

TEST(Explain, PaintsTheLayersWhereColoursAreWanted) {
  const std::string text = run({"--color", "always", "explain", "--text", "--demo"}).out;
  for (const char* const colour :
       {"\x1b[36m  mpa", "\x1b[34m  ddp", "\x1b[35m  rdmap", "\x1b[32m  ulp", "\x1b[1;31mTerminate"})
    EXPECT_THAT(text, HasSubstr(colour));
}

TEST(Explain, ShowsOneConnection) {
  const std::string two = capture("03-write-bw-64k.pcap");
  const json all = json::parse(run({"explain", "--json", two}).out);
  ASSERT_EQ(all["connections"].size(), 2U);
  const std::string second = std::to_string(all["connections"][1]["id"].get<int>());
  const json one = json::parse(run({"explain", "--json", "--connection", second, two}).out);
  ASSERT_EQ(one["connections"].size(), 1U);
  EXPECT_EQ(one["connections"][0]["responder"], all["connections"][1]["responder"]);
  EXPECT_EQ(one["connections"][0]["rows"].size(), all["connections"][1]["rows"].size());
}

TEST(Explain, ReadsStandardInput) {
  const Ended ended =
      Command({"-c", R"(exec "$0" explain --json - < "$1")", weft_command(), capture("01-rping.pcap")}, "sh").wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(json::parse(ended.out)["source"], "standard input");
}

}  // namespace
}  // namespace weft::test
