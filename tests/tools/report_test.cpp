// SPDX-License-Identifier: Apache-2.0
// `weft bench` and `weft info`: their JSON is JSON, has the promised keys, and plausible values.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "common/sanitizers.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;
using nlohmann::json;

struct Measurement {
  std::string kind;
  std::string op;
  std::string size;
  Arguments more{};
};
void PrintTo(const Measurement& m, std::ostream* out) {
  *out << m.kind << '_' << m.op << '_' << m.size;
  for (const std::string& argument : m.more) {
    for (const char c : argument) *out << (std::isalnum(static_cast<unsigned char>(c)) ? c : '_');
  }
}

class Bench : public testing::TestWithParam<Measurement> {};

TEST_P(Bench, ReportsBothTransportsAndTheirRatio) {
  const Measurement& m = GetParam();
  Arguments arguments{"bench",      m.kind, "--op",          m.op, "--size", m.size,
                      "--duration", "0.2",  "--repetitions", "3",  "--json"};
  arguments.insert(arguments.end(), m.more.begin(), m.more.end());
  const Ended ended = run(arguments);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json report = json::parse(ended.out);
  const double weft = report.at("weft");
  const double tcp = report.at("tcp");
  EXPECT_GT(weft, 0);
  EXPECT_GT(tcp, 0);
  EXPECT_NEAR(report.at("ratio"), weft / tcp, 0.001 * weft / tcp);
  EXPECT_EQ(report.at("weft_runs").size(), 3U);
  EXPECT_EQ(report.at("tcp_runs").size(), 3U);
  EXPECT_EQ(report.at("bench"), m.kind);
  EXPECT_EQ(report.at("op"), m.op);
  EXPECT_EQ(report.at("better"), m.kind == "lat" ? "lower" : "higher");
  EXPECT_GT(weft / tcp, 0.001) << "not plausible";
  EXPECT_LT(weft / tcp, 1000) << "not plausible";
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, Bench,
    testing::Values(Measurement{"lat", "send", "8"}, Measurement{"lat", "write", "8"}, Measurement{"lat", "read", "8"},
                    Measurement{"lat", "write", "1"}, Measurement{"lat", "send", "4096", {"--crc", "off"}},
                    Measurement{"bw", "send", "65536"}, Measurement{"bw", "write", "65536", {"--crc", "off"}},
                    Measurement{"bw", "read", "65536"}, Measurement{"bw", "write", "1000000", {"--depth", "1"}},
                    Measurement{"bw", "send", "30000", {"--mtu", "1440", "--markers"}},
                    Measurement{"rate", "send", "8"}, Measurement{"rate", "write", "64", {"--depth", "7"}},
                    Measurement{"rate", "read", "8"}, Measurement{"rate", "send", "8", {"--iters", "500"}}),
    testing::PrintToStringParamName());

// A first try needs nothing but the word, and what the policy says of CRC counts.
TEST(BenchPolicy, HoldsForBothEnds) {
  const Ended ended = run({"--log", "info", "bench", "lat", "--iters", "50", "--repetitions", "1", "--policy",
                           "tls=require,crc=off", "--json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json report = json::parse(ended.out);
  EXPECT_EQ(report.at("policy"), "tls=require,crc=off");
  EXPECT_EQ(report.at("crc"), false);
  EXPECT_GT(report.at("weft"), 0);
  std::size_t told = 0;
  for (std::size_t at = 0; (at = ended.err.find("TLS 1.3 with TLS_", at)) != std::string::npos; ++at) ++told;
  EXPECT_EQ(told, 2U) << "one for each end: " << ended.err;
}

void expect_rivals(Arguments arguments, const std::vector<std::string>& expected) {
  const bool fresh = arguments.back() == "--fresh";
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--iters", "20", "--repetitions", "2", "--policy", "tls=require", "--against",
                                     "tcp,openssl,plain", "--json"});
  const Ended ended = run(arguments);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json report = json::parse(ended.out);
  EXPECT_GT(report.at("weft"), 0);
  EXPECT_GT(report.at("tcp"), 0);
  std::vector<std::string> names;
  for (const json& rival : report.at("rivals")) {
    EXPECT_GT(rival.at("median"), 0) << rival;
    EXPECT_EQ(rival.at("runs").size(), 2U);
    names.push_back(rival.at("name").get<std::string>());
  }
  EXPECT_EQ(names, expected);
  EXPECT_EQ(report.at("fresh"), fresh);
}

// Four who take turns in one run.
TEST(BenchPolicy, TlsHasItsOwnRivals) {
  expect_rivals({"lat", "--size", "64"}, {"weft without TLS", "openssl"});
  expect_rivals({"bw", "--connections", "16", "--size", "16384"}, {"weft without TLS", "openssl"});
  expect_rivals({"setup"}, {"weft without TLS", "openssl", "openssl, resumed"});
}

TEST(BenchPolicy, ANewProcessForEachSetUpHasThem) {
  if (kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  expect_rivals({"setup", "--fresh"}, {"weft without TLS", "openssl"});
}

TEST(BenchPolicy, IsRefusedWithItsReason) {
  for (const Arguments& arguments :
       {Arguments{"bench", "bw", "--policy", "tls=perhaps"},
        Arguments{"bench", "suite", "--policy", "tls-ca=/nonexistent.pem,tls=require"},
        Arguments{"bench", "suite", "--policy", "crc=off"}, Arguments{"bench", "suite", "--policy", "markers=off"}}) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.exit_code, 2) << arguments.back();
    EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
    EXPECT_NE(ended.err.find("--policy: "), std::string::npos) << ended.err;
  }
  for (const Arguments& arguments :
       {Arguments{"bench", "lat", "--against", "openssl"}, Arguments{"bench", "setup", "--against", "plain"},
        Arguments{"bench", "setup", "--against", "ucx"}, Arguments{"bench", "suite", "--against", "tcp,plain"},
        Arguments{"bench", "suite", "--tls", "--policy", "tls=off"}}) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.exit_code, 2) << arguments.back();
    EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  }
}

TEST(BenchText, HasBothLinesAndTheRatio) {
  const Ended ended = run({"bench", "lat", "--iters", "50", "--repetitions", "1"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  for (const char* word : {"weft ", "tcp ", "ratio", "us"}) EXPECT_NE(ended.out.find(word), std::string::npos) << word;
}

class BenchCount : public testing::TestWithParam<Arguments> {};

// Without strace: it takes long, and LeakSanitizer does not work under it. What comes with time, or with a Send that
// finds no receive, is no matter of each message and may be there; verbs_allocation_test is the strict one.
TEST_P(BenchCount, FindsNoAllocationForEachMessage) {
  Arguments arguments{"PATH=/nonexistent", weft_command(), "bench"};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  arguments.emplace_back("--count");
  const Ended ended = Command(arguments, "/usr/bin/env").wait();
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("system calls are not counted: strace is not installed"), std::string::npos) << ended.out;
  if (ended.out.find("not counted in a build with sanitizers") != std::string::npos) GTEST_SKIP() << ended.out;
  const std::string words = "heap allocations of both processes for each message: ";
  const std::size_t at = ended.out.find(words);
  ASSERT_NE(at, std::string::npos) << ended.out;
  EXPECT_LT(std::strtod(ended.out.c_str() + at + words.size(), nullptr), 0.5) << ended.out;
}

INSTANTIATE_TEST_SUITE_P(Patterns, BenchCount,
                         testing::Values(Arguments{"lat"}, Arguments{"lat", "--op", "read"},
                                         Arguments{"lat", "--policy", "markers=on"},
                                         Arguments{"lat", "--blocking", "wait"}, Arguments{"bw", "--op", "write"},
                                         Arguments{"rate", "--op", "write", "--size", "64"}));

TEST(Info, JsonHasDevicesLimitsAndBuild) {
  const Ended ended = run({"info", "--json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json info = json::parse(ended.out);
  bool loopback = false;
  for (const json& device : info.at("devices")) loopback = loopback || device.at("loopback").get<bool>();
  EXPECT_TRUE(loopback);
  EXPECT_GE(info.at("limits").at("max_qp_wr"), 128);
  EXPECT_FALSE(info.at("build").at("compiler").get<std::string>().empty());
  EXPECT_TRUE(info.at("build").at("tls").get<std::string>().starts_with("1.3 by OpenSSL"));
}

// On whatever processor: two words, and a sentence after them.
TEST(Info, TellsWhichCodeComputesCrcsAndWhy) {
  const json by_itself = json::parse(run({"info", "--json"}).out).at("crc32c");
  EXPECT_TRUE(by_itself.at("routine") == "isa-l" || by_itself.at("routine") == "portable") << by_itself;
  EXPECT_NE(by_itself.at("reason"), "asked for");
  const std::string other = by_itself.at("routine") == "isa-l" ? "portable" : "isa-l";
  const Ended ended = Command({"WEFT_CRC32C=" + other, weft_command(), "info", "--json"}, "/usr/bin/env").wait();
  const json asked = json::parse(ended.out).at("crc32c");
  EXPECT_EQ(asked.at("routine"), other);
  EXPECT_EQ(asked.at("reason"), "asked for");
  const Ended text = Command({"WEFT_CRC32C=" + other, weft_command(), "info"}, "/usr/bin/env").wait();
  EXPECT_NE(text.out.find("routine          " + other + '\n'), std::string::npos) << text.out;
}

TEST(Info, RefusesARoutineThatThereIsNot) {
  const Ended ended = Command({"WEFT_CRC32C=fast", weft_command(), "info"}, "/usr/bin/env").wait();
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err, "weft info: WEFT_CRC32C: 'fast' is not one of isa-l, portable.\n");
}

// --log wins, and what a command cannot understand it refuses.
TEST(Info, TakesTheLogLevelOfTheEnvironment) {
  EXPECT_EQ(Command({"WEFT_LOG=info", weft_command(), "info"}, "/usr/bin/env").wait().exit_code, 0);
  EXPECT_EQ(Command({"WEFT_LOG=loud", weft_command(), "--log", "off", "info"}, "/usr/bin/env").wait().exit_code, 0);
  const Ended ended = Command({"WEFT_LOG=loud", weft_command(), "info"}, "/usr/bin/env").wait();
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_EQ(ended.err, "weft info: WEFT_LOG: 'loud' is not one of debug, info, warn, error, off.\n");
}

TEST(Info, TextNamesTheLoopbackAddress) {
  const Ended ended = run({"info"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("127.0.0.1/8"), std::string::npos) << ended.out;
}

// That which weft run takes, or why it takes none.
TEST(Info, NamesTheFolderOfTheDropInLibraries) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("lib");
  ASSERT_TRUE(std::filesystem::create_directory(path));
  ASSERT_EQ(::setenv("WEFT_LIBRARY_PATH", path.c_str(), 1), 0);
  const std::string missing = json::parse(run({"info", "--json"}).out).at("drop_in").at("missing");
  EXPECT_NE(missing.find(path), std::string::npos) << missing;
  EXPECT_NE(run({"info"}).out.find("missing"), std::string::npos);
  for (const char* name : {"/libibverbs.so.1", "/librdmacm.so.1"}) std::ofstream(path + name) << "";
  EXPECT_EQ(json::parse(run({"info", "--json"}).out).at("drop_in").at("folder"), path);
  const Ended text = run({"info"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.out.find(path + '\n'), std::string::npos) << text.out;
  ::unsetenv("WEFT_LIBRARY_PATH");
}

}  // namespace
}  // namespace weft::test
