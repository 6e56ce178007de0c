// SPDX-License-Identifier: Apache-2.0
// The command line: help everywhere, and for every mistake one sentence on stderr and exit code 2.
#include <gtest/gtest.h>

#include <sstream>

#include "command.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;

struct Mistake {
  Arguments arguments;
  std::string names;  // what the sentence must mention
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  for (const std::string& argument : mistake.arguments) *out << argument << ' ';
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreOneSentenceAndExitCode2) {
  const Ended ended = run(GetParam().arguments);
  EXPECT_EQ(ended.exit_code, 2) << ended.out << ended.err;
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
  EXPECT_NE(ended.err.find(GetParam().names), std::string::npos) << ended.err;
  EXPECT_EQ(ended.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, Mistakes,
    testing::Values(
        Mistake{{}, "subcommand"}, Mistake{{"dance"}, "dance"}, Mistake{{"--frobnicate"}, "--frobnicate"},
        Mistake{{"rping", "--frobnicate", "-s"}, "--frobnicate"}, Mistake{{"--log", "loud", "info"}, "loud"},
        Mistake{{"info", "--log", "loud"}, "loud"}, Mistake{{"rping"}, "-s"},
        Mistake{{"rping", "-s", "-c", "-a", "127.0.0.1"}, "-s"}, Mistake{{"rping", "-c"}, "-a"},
        Mistake{{"rping", "-c", "-a"}, "-a"}, Mistake{{"rping", "-c", "-a", "999.1.2.3"}, "999.1.2.3"},
        Mistake{{"rping", "-c", "-a", "no such host"}, "no such host"}, Mistake{{"rping", "-s", "-p", "0"}, "-p"},
        Mistake{{"rping", "-s", "-p", "65536"}, "-p"}, Mistake{{"rping", "-s", "-p", "http"}, "-p"},
        Mistake{{"rping", "-s", "-p", "-5"}, "-p"}, Mistake{{"rping", "-c", "-a", "::1", "-S", "25"}, "-S"},
        Mistake{{"rping", "-c", "-a", "::1", "-S", "65536"}, "-S"},
        Mistake{{"rping", "-c", "-a", "::1", "-S", "99999999999999999999"}, "-S"},
        Mistake{{"rping", "-c", "-a", "::1", "-C", "-1"}, "-C"},
        Mistake{{"rping", "-c", "-a", "::1", "-I", "nowhere at all"}, "-I"},
        Mistake{{"rping", "-s", "-I", "127.0.0.1"}, "-I"}, Mistake{{"rping", "-s", "--mpa-rev", "3"}, "--mpa-rev"},
        Mistake{{"rping", "-s", "--rtr", "smoke"}, "--rtr"}, Mistake{{"rping", "-s", "--ird", "129"}, "--ird"},
        Mistake{{"rping", "-s", "-P", "--max-clients", "0"}, "--max-clients"},
        Mistake{{"rping", "-s", "--ord", "x"}, "--ord"},
        Mistake{{"rping", "-c", "-a", "::1", "--mpa-rev", "1", "--rtr", "send"}, "--rtr"},
        Mistake{{"demo", "--pcap", "/no/such/directory/x.pcap"}, "/no/such/directory/x.pcap"},
        Mistake{{"--pcap", "/no/such/directory/x.pcap", "rping", "-c", "-a", "::1"}, "/no/such/directory"},
        Mistake{{"bench"}, "lat, bw, rate or setup"}, Mistake{{"bench", "suite", "--only", "dancing"}, "dancing"},
        Mistake{{"bench", "suite", "--output", "/no/such/directory/x.json"}, "/no/such/directory"},
        Mistake{{"bench", "lat", "--against", "tcp,none"}, "none"},
        Mistake{{"bench", "lat", "--against", "siw"}, "siw"}, Mistake{{"bench", "speed"}, "speed"},
        Mistake{{"bench", "lat", "--op", "teleport"}, "--op"}, Mistake{{"bench", "lat", "--size", "0"}, "--size"},
        Mistake{{"bench", "bw", "--mtu", "12"}, "--mtu"}, Mistake{{"bench", "bw", "--depth", "0"}, "--depth"},
        Mistake{{"bench", "lat", "--depth", "4"}, "--depth"}, Mistake{{"bench", "rate", "--crc", "maybe"}, "--crc"},
        Mistake{{"bench", "rate", "--duration", "0"}, "--duration"}, Mistake{{"probe-peer"}, "-s"},
        Mistake{{"probe"}, "HOST:PORT"}, Mistake{{"probe", "192.0.2.7"}, "HOST:PORT"},
        Mistake{{"probe", "192.0.2.7:0"}, "HOST:PORT"}, Mistake{{"probe", "no such host:7"}, "no such host"},
        Mistake{{"probe", "a:1", "b:1"}, "b:1"}, Mistake{{"probe", "::1:7", "--profile", "dance"}, "dance"},
        Mistake{{"probe", "127.0.0.1:7", "--only", "dance"}, "dance"},
        Mistake{{"probe", "127.0.0.1:7", "--skip", "dance"}, "dance"},
        Mistake{{"probe", "127.0.0.1:7", "--listen", "0"}, "127.0.0.1:7"},
        Mistake{{"probe", "--listen", "nowhere"}, "nowhere"},
        Mistake{{"probe", "--listen", "0", "--run", "rping 'x"}, "quote"},
        Mistake{{"probe", "127.0.0.1:7", "--patience", "1"}, "--patience"},
        Mistake{{"probe", "127.0.0.1:7", "--at-a-time", "65"}, "--at-a-time"},
        Mistake{{"probe", "127.0.0.1:7", "--fuzz", "0"}, "--fuzz"}, Mistake{{"probe-peer", "-s", "-c"}, "-s"},
        Mistake{{"probe-peer", "-c"}, "-a"}, Mistake{{"probe-peer", "-c", "-a", "::1", "-p", "0"}, "port"},
        Mistake{{"probe-peer", "-c", "-a", "::1", "--parallel", "0"}, "--parallel"},
        Mistake{{"probe-peer", "-s", "--policy", "dance=on"}, "dance"},
        Mistake{{"bench", "rate", "--iters", "-3"}, "--iters"}, Mistake{{"info", "extra"}, "extra"}));

struct Slip {
  Arguments arguments;
  std::string sentence;  // all of it
};

void PrintTo(const Slip& slip, std::ostream* out) {
  for (const std::string& argument : slip.arguments) *out << argument << ' ';
}

class Slips : public testing::TestWithParam<Slip> {};

TEST_P(Slips, NameWhatWasMeantAndTheHelp) {
  const Ended ended = run(GetParam().arguments);
  EXPECT_EQ(ended.exit_code, 2) << ended.out << ended.err;
  EXPECT_EQ(ended.err, GetParam().sentence + '\n');
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, Slips,
    testing::Values(
        Slip{{"adit", "x.pcap"}, "weft: there is no subcommand 'adit'. Did you mean 'audit'? (weft --help)"},
        Slip{{"rpign", "-s"}, "weft: there is no subcommand 'rpign'. Did you mean 'rping'? (weft --help)"},
        Slip{{"diss"}, "weft: there is no subcommand 'diss'. Did you mean 'dissect'? (weft --help)"},
        Slip{{"dance"}, "weft: there is no subcommand 'dance' (weft --help)."},
        Slip{{"bench", "latency", "--size", "8"},
             "weft bench: there is no subcommand 'latency'. Did you mean 'lat'? (weft bench --help)"},
        Slip{{"--pcpa", "x", "info"},
             "weft info: there is no option '--pcpa'. Did you mean '--pcap'? (weft info --help)"},
        Slip{{"rping", "-s", "--mpa_rev=1"},
             "weft rping: there is no option '--mpa_rev'. Did you mean '--mpa-rev'? (weft rping --help)"},
        Slip{{"rping", "-s", "--lgo", "info"},
             "weft rping: there is no option '--lgo'. Did you mean '--log'? (weft rping --help)"},
        Slip{{"rping", "-s", "-x"}, "weft rping: there is no option '-x' (weft rping --help)."},
        Slip{{"bench", "bw", "--frobnicate"},
             "weft bench bw: there is no option '--frobnicate' (weft bench bw --help)."},
        Slip{{"info", "extra"}, "weft info: 'extra' was not expected (weft info --help)."},
        Slip{{"bench", "lat", "--op", "sned"},
             "weft bench lat: --op: 'sned' is not one of send, write, read. Did you mean 'send'? (weft "
             "bench lat --help)"},
        Slip{{"--log", "loud", "info"},
             "weft info: --log: 'loud' is not one of trace, debug, info, warn, error, off (weft info --help)."}));

class Help : public testing::TestWithParam<Arguments> {};

TEST_P(Help, IsOnStandardOutputAndASuccess) {
  const Ended ended = run(GetParam());
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_GT(ended.out.size(), 200U);
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_EQ(ended.err, "");
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, Help,
                         testing::Values(Arguments{"--help"}, Arguments{"demo", "--help"}, Arguments{"rping", "-h"},
                                         Arguments{"info", "--help"}, Arguments{"bench", "--help"},
                                         Arguments{"bench", "lat", "--help"}, Arguments{"bench", "bw", "--help"},
                                         Arguments{"bench", "rate", "--help"}, Arguments{"bench", "suite", "--help"},
                                         Arguments{"run", "--help"}, Arguments{"completion", "--help"},
                                         Arguments{"dissect", "--help"}, Arguments{"explain", "--help"},
                                         Arguments{"probe", "--help"}, Arguments{"probe-peer", "--help"}));

TEST(Version, IsOneLine) {
  const Ended ended = run({"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(is_one_line(ended.out));
  EXPECT_EQ(ended.out.find("weft "), 0U);
}

TEST(Help, NamesTheProtocolFlags) {
  const std::string text = run({"rping", "--help"}).out;
  for (const char* flag : {"-s", "-c", "-a", "-I", "-p", "-C", "-S", "-v", "-V", "-P", "-d", "-q", "--mpa-rev",
                           "--no-crc", "--markers", "--rtr", "--ird", "--ord", "Examples:"}) {
    EXPECT_NE(text.find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace weft::test
