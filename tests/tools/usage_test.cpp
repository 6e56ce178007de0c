// SPDX-License-Identifier: Apache-2.0
// The command line: help everywhere, and for every mistake one sentence on stderr and exit code 2.
#include <gtest/gtest.h>

#include "command.hpp"
#include "subcommands.hpp"

namespace weft::test {
namespace {

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
        Mistake{{"dance"}, "dance"}, Mistake{{"--frobnicate"}, "--frobnicate"},
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
        Mistake{{"bench"}, "lat, bw, rate, setup, suite"}, Mistake{{"bench", "suite", "--only", "dancing"}, "dancing"},
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
        Mistake{{"probe", "127.0.0.1:7", "--from", "::1"}, "--from"},
        Mistake{{"probe", "--listen", "0", "--from", "::1"}, "family"},
        Mistake{{"probe", "--listen", "0", "--from", "nowhere"}, "nowhere"},
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
        Slip{{"adit", "x.pcap"}, "weft: unknown subcommand 'adit'. Did you mean 'audit'? (see weft --help)"},
        Slip{{"rpign", "-s"}, "weft: unknown subcommand 'rpign'. Did you mean 'rping'? (see weft --help)"},
        Slip{{"diss"}, "weft: unknown subcommand 'diss'. Did you mean 'dissect'? (see weft --help)"},
        Slip{{"dance"}, "weft: unknown subcommand 'dance' (see weft --help)."},
        Slip{{"hlep"}, "weft: unknown subcommand 'hlep'. Did you mean 'help'? (see weft --help)"},
        Slip{{"completion", "bash"}, "weft: unknown subcommand 'completion' (see weft --help)."},
        Slip{{"help", "adit"}, "weft help: unknown subcommand 'adit'. Did you mean 'audit'? (see weft --help)"},
        Slip{{"help", "bench", "dance"}, "weft help: unknown subcommand 'dance' (see weft bench --help)."},
        Slip{{"bench", "latency", "--size", "8"},
             "weft bench: unknown subcommand 'latency'. Did you mean 'lat'? (see weft bench --help)"},
        Slip{{"--pcpa", "x", "info"},
             "weft info: unknown option '--pcpa'. Did you mean '--pcap'? (see weft info --help)"},
        Slip{{"rping", "-s", "--mpa_rev=1"},
             "weft rping: unknown option '--mpa_rev'. Did you mean '--mpa-rev'? (see weft rping --help)"},
        Slip{{"rping", "-s", "--lgo", "info"},
             "weft rping: unknown option '--lgo'. Did you mean '--log'? (see weft rping --help)"},
        Slip{{"rping", "-s", "-x"}, "weft rping: unknown option '-x' (see weft rping --help)."},
        Slip{{"bench", "bw", "--frobnicate"},
             "weft bench bw: unknown option '--frobnicate' (see weft bench bw --help)."},
        Slip{{"info", "extra"}, "weft info: unexpected argument 'extra' (see weft info --help)."},
        Slip{{"rping", "-s", "info"}, "weft rping: unexpected argument 'info' (see weft rping --help)."},
        Slip{{"bench", "--", "lat", "--", "bw"},
             "weft bench lat: unexpected argument 'bw' (see weft bench lat --help)."},
        Slip{{"--", "dance"}, "weft: unknown subcommand 'dance' (see weft --help)."},
        Slip{{"bench", "lat", "bw"}, "weft bench lat: unexpected argument 'bw' (see weft bench lat --help)."},
        Slip{{"dissect", "a", "b"}, "weft dissect: unexpected argument 'b' (see weft dissect --help)."},
        Slip{{"demo", "--", "ls"}, "weft demo: unexpected argument 'ls' (see weft demo --help)."},
        Slip{{"audit", "--list", "--json"}, "weft audit: --json cannot be used with --list (see weft audit --help)."},
        Slip{{"probe", "--list", "--json"}, "weft probe: --list cannot be used with --json (see weft probe --help)."},
        Slip{{"run"}, "weft run: name the program to run: weft run [options] PROGRAM [arguments]."},
        Slip{{"run", "--polcy", "rping"},
             "weft run: unknown option '--polcy'. Did you mean '--policy'? (see weft run --help)"},
        Slip{{"run", "--policy"}, "weft run: --policy needs a value: --policy KEY=VALUE,... (see weft run --help)."},
        Slip{{"--log"}, "weft: --log needs a value: --log LEVEL (see weft --help)."},
        Slip{{"rping", "-c", "-a"}, "weft rping: -a needs a value: -a ADDR (see weft rping --help)."},
        Slip{{"audit", "x", "-i"}, "weft audit: --interface needs a value: --interface IFACE (see weft audit --help)."},
        Slip{{"rping", "-s", "-p", "http"},
             "weft rping: -p: 'http' is not a number from 1 to 65535 (see weft rping --help)."},
        Slip{{"bench", "lat", "--duration", "0"},
             "weft bench lat: --duration: '0' is not a number from 0.1 to 3600 (see weft bench lat --help)."},
        Slip{{"audit", "--max-connections", "0", "x"},
             "weft audit: --max-connections: '0' is not a number from 1 to 1000000000 (see weft audit --help)."},
        Slip{{"probe", "--seed", "x", "a:1"},
             "weft probe: --seed: 'x' is not a whole number, or too large (see weft probe --help)."},
        Slip{{"dissect", "--packet", "-1", "x"},
             "weft dissect: --packet: '-1' is not a number from 0 to 1000000000 (see weft dissect --help)."},
        Slip{{"rping", "-s", "-p", "1", "-p", "2"}, "weft rping: -p was given more than once (see weft rping --help)."},
        Slip{{"dissect", "--all=x", "x"}, "weft dissect: --all takes no value (see weft dissect --help)."},
        Slip{{"keys"}, "weft keys: DIR is missing (see weft keys --help)."},
        Slip{{"dissect"}, "weft dissect: FILE is missing (see weft dissect --help)."},
        Slip{{"dissect", "--overview", "--packet", "1", "x"},
             "weft dissect: --overview cannot be used with --packet (see weft dissect --help)."},
        Slip{{"explain", "--demo", "--step"}, "weft explain: --step needs --text (see weft explain --help)."},
        Slip{{"bench", "lat", "--op", "sned"},
             "weft bench lat: --op: 'sned' is not one of send, write, read. Did you mean 'send'? (see weft "
             "bench lat --help)"},
        Slip{{"--log", "loud", "info"},
             "weft info: --log: 'loud' is not one of debug, info, warn, error, off (see weft info --help)."}));

// Every option of every subcommand, used in the ways that the parser complains of. Its own words never show.
void expect_own_words(Arguments words, const Arguments& wrong) {
  words.insert(words.end(), wrong.begin(), wrong.end());
  const Ended ended = run(words);
  std::string line;
  for (const std::string& word : words) line += word + ' ';
  EXPECT_EQ(ended.exit_code, 2) << line << ended.err;
  EXPECT_TRUE(is_one_line(ended.err)) << line << ended.err;
  EXPECT_EQ(ended.out, "") << line;
  for (const char* phrase :
       {"were not expected", "was not expected", "required", "not in {", "not in range", "Could not", "excludes",
        "requires", "TEXT:", "INT:", "At Most", "ParseError", "command line is wrong"})
    EXPECT_EQ(ended.err.find(phrase), std::string::npos) << line << ended.err;
}

TEST(ParserWords, NeverShow) {
  for (const Subcommand& each : all_subcommands()) {
    expect_own_words(each.words, {"--frobnicate"});
    for (const std::string& entry : entries(each.help, "Options:")) {
      const bool takes_value = entry.find(' ') != std::string::npos;
      const std::string name = entry.substr(entry.rfind(',', entry.find(' ')) + 1, std::string::npos);
      const std::string option = name.substr(0, name.find(' '));
      if (option == "--help" || option == "--version") continue;
      if (option == "--json[=FILE]") continue;  // with and without a value: nothing to complain of
      if (takes_value && option != "--markers") {
        expect_own_words(each.words, {option});
      } else if (option.starts_with("--") && option != "--markers") {
        expect_own_words(each.words, {option + "=x"});
      }
    }
  }
}

TEST(Subcommands, AreAllListed) {
  const Ended alone = run({});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_EQ(alone.out, "");
  const std::string help = run({"--help"}).out;
  EXPECT_EQ(alone.err, help);
  const auto names = entries(help, "Subcommands:");
  EXPECT_EQ(names.size(), 11U) << help;
  for (const std::string& name : names) {
    EXPECT_EQ(run({"help", name}).out, run({name, "--help"}).out) << name;
    EXPECT_EQ(run({name, "--help"}).err, "");
  }
  EXPECT_EQ(run({"help"}).out, help);
  EXPECT_EQ(run({"help", "bench", "lat"}).out, run({"bench", "lat", "--help"}).out);
  EXPECT_EQ(run({"version"}).out, run({"--version"}).out);
  EXPECT_EQ(entries(help, "Help:"), (std::vector<std::string>{"help", "version"}));
}

TEST(Version, IsOneLine) {
  const Ended ended = run({"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(is_one_line(ended.out));
  EXPECT_EQ(ended.out.find("weft "), 0U);
}

}  // namespace
}  // namespace weft::test
