// SPDX-License-Identifier: Apache-2.0
// `weft audit --keylog` and `weft dissect --keylog` on a connection of `weft rping` over TLS: one end's capture shows what
// crossed the wire, the other's what MPA said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "unwrapped.hpp"

namespace weft::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& octets) { std::ofstream(path, std::ios::binary) << octets; }

struct KeyLogged : testing::Test {
  const TemporaryDirectory directory{};
  const std::string wire = directory.file("wire.pcap");
  const std::string engine = directory.file("engine.pcap");
  const std::string keys = directory.file("keys.log");
  const std::string report = directory.file("report.json");
  const std::string port = std::to_string(free_port());

  // The server's capture shows what MPA says. The key log is the server's.
  void ping(const std::string& of_server, const std::string& of_client) {
    const std::string folder = directory.file("keys");
    ASSERT_EQ(run({"keys", folder}).exit_code, 0);
    const auto policy = [&](const std::string& name) {
      return "tls-certificate=" + folder + '/' + name + ".pem,tls-ca=" + folder + "/ca.pem";
    };
    ::setenv("SSLKEYLOGFILE", keys.c_str(), 1);
    Command server({"--pcap", engine, "rping", "-s", "-a", "127.0.0.1", "-p", port, "-C", "5", "--policy",
                    policy("server") + of_server});
    ::unsetenv("SSLKEYLOGFILE");
    ASSERT_TRUE(server.wait_for_error("listening on ")) << server.err();
    const Ended client = run({"--pcap", wire, "rping", "-c", "-a", "127.0.0.1", "-p", port, "-C", "5", "-S", "40000",
                              "-V", "--policy", policy("client") + of_client});
    ASSERT_EQ(client.exit_code, 0) << client.err;
    const Ended ended = server.wait();
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
  }
  void ping() { ping(",tls=require", ",tls=require,pcap-shows=wire"); }

  // Of its only connection.
  json connection(const std::string& capture, int exit_code) const {
    const Ended judged = run({"audit", "--quiet", "--json", report, "--keylog", keys, capture});
    EXPECT_EQ(judged.exit_code, exit_code) << judged.err;
    return json::parse(contents(report)).at("connections").at(0);
  }
};

TEST_F(KeyLogged, AnAuditOfTheWireCountsWhatMpaSaid) {
  ping();
  const json inside = connection(wire, 0), clear = connection(engine, 0);
  EXPECT_EQ(inside.at("messages"), clear.at("messages"));
  EXPECT_EQ(inside.at("mpa").at("initiator"), clear.at("mpa").at("initiator"));
  EXPECT_EQ(inside.at("mpa").at("responder"), clear.at("mpa").at("responder"));
  EXPECT_EQ(inside.at("mpa").at("request").at("private_data"), clear.at("mpa").at("request").at("private_data"));
  EXPECT_THAT(inside.at("tls").at("cipher").get<std::string>(), HasSubstr("TLS_"));
  EXPECT_FALSE(inside.at("tls").contains("not_decrypted"));
  EXPECT_FALSE(clear.contains("tls"));
  const std::string octets = contents(wire), close_notify("\x17\x03\x03\x00\x13", 5);  // the one record of 19 octets
  EXPECT_EQ(octets.find("MPA ID Re"), std::string::npos);
  const std::size_t first = octets.find(close_notify);
  EXPECT_NE(first, std::string::npos);
  EXPECT_NE(octets.find(close_notify, first + 1), std::string::npos) << "each end's stands before its FIN";
  EXPECT_NE(contents(engine).find("MPA ID Req Frame"), std::string::npos);
}

TEST_F(KeyLogged, WithoutItsSecretsATlsConnectionIsCalledSuch) {
  ping();
  const Ended without = run({"audit", wire});
  EXPECT_EQ(without.exit_code, 3);
  EXPECT_THAT(unwrapped(without.out), HasSubstr("1 TCP connection, 0 of iWARP, 1 of TLS without iWARP"));
  EXPECT_THAT(unwrapped(without.out), HasSubstr("not decrypted: no key log was given (--keylog)"));
  EXPECT_TRUE(is_one_line(without.err)) << without.err;
  EXPECT_THAT(without.err, HasSubstr("no key log was given (--keylog)"));

  std::string others = contents(keys);
  for (std::size_t at = 0; (at = others.find(' ', at)) != std::string::npos; at = others.find('\n', at)) {
    char& digit = others[at + 1];  // of the client random
    digit = digit == '0' ? '1' : '0';
  }
  put(directory.file("others.log"), others);
  const Ended wrong = run({"audit", "--summary", "--keylog", directory.file("others.log"), wire});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_THAT(wrong.out, HasSubstr("the key log lacks secrets of its "));
  const Ended dissected = run({"dissect", wire});
  EXPECT_EQ(dissected.exit_code, 3);
  EXPECT_THAT(dissected.err, HasSubstr("no key log was given (--keylog)"));
}

// The last record that is longer than an alert: what is in front of it is judged, and the verdict is not clean.
TEST_F(KeyLogged, ARecordThatWasChangedIsNotReadToItsEnd) {
  ping();
  std::string octets = contents(wire);
  std::size_t last = std::string::npos;
  for (std::size_t at = 0; (at = octets.find("\x17\x03\x03", at)) != std::string::npos; ++at) {
    if (at + 5 < octets.size() && static_cast<unsigned char>(octets[at + 4]) > 40) last = at;
  }
  ASSERT_NE(last, std::string::npos);
  octets[last + 20] ^= 1;
  put(wire, octets);
  const json judged = connection(wire, 2);
  EXPECT_THAT(judged.at("tls").at("not_decrypted").get<std::string>(), HasSubstr("does not verify"));
  EXPECT_TRUE(judged.at("mpa").contains("request"));
  const Ended shown = run({"audit", "--keylog", keys, wire});
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_THAT(unwrapped(shown.out), HasSubstr("not decrypted to its end: the tag of the record at packet "));
  EXPECT_THAT(shown.out, HasSubstr("NOT READ TO ITS END"));
  const Ended dissected = run({"dissect", "--overview", "--keylog", keys, wire});
  EXPECT_EQ(dissected.exit_code, 2);
  EXPECT_THAT(dissected.out, HasSubstr("MPA Request"));
  EXPECT_THAT(dissected.err, HasSubstr("does not verify"));
}

TEST_F(KeyLogged, ACaptureThatIsCutIsJudgedAsFarAsItGoes) {
  ping();
  const std::string octets = contents(wire);
  put(wire, octets.substr(0, octets.size() / 2));
  const json judged = connection(wire, 2);  // cut inside a packet
  EXPECT_TRUE(judged.at("mpa").contains("reply"));
  EXPECT_FALSE(judged.at("tls").contains("not_decrypted"));
}

TEST_F(KeyLogged, DissectShowsWhatIsInside) {
  ping();
  const Ended inside = run({"dissect", "--overview", "--keylog", keys, wire});
  const Ended clear = run({"dissect", "--overview", engine});
  EXPECT_EQ(inside.exit_code, 0) << inside.err;
  const auto messages = [](const std::string& text) {  // each begins with its time, however many lines it takes
    const std::regex time(R"(\n *[0-9]+\.[0-9]{6} )");
    return std::distance(std::sregex_iterator(text.begin(), text.end(), time), std::sregex_iterator());
  };
  EXPECT_GT(messages(clear.out), 20);
  EXPECT_EQ(messages(inside.out), messages(clear.out)) << inside.out;
  // A packet of the capture is asked for by its number: that in which the Request is complete.
  const Ended all = run({"dissect", "--json", "--keylog", keys, wire});
  const json first = json::parse(all.out.substr(0, all.out.find('\n')));
  const auto packet = std::to_string(first.at("packet").get<std::uint64_t>());
  const Ended one = run({"dissect", "--json", "--keylog", keys, "--packet", packet, wire});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(json::parse(one.out.substr(0, one.out.find('\n'))), first);
}

// A listener that takes both kinds of peers, and one without TLS: its capture has what it said.
TEST_F(KeyLogged, APeerWithoutTlsIsCapturedAsItIs) {
  ping(",tls=accept,pcap-shows=wire", ",tls=off");
  put(keys, "CLIENT_RANDOM " + std::string(64, '0') + " 00\n");  // of some other connection
  const json judged = connection(engine, 0);
  EXPECT_FALSE(judged.contains("tls"));
  EXPECT_TRUE(judged.at("mpa").contains("reply"));
}

constexpr std::string_view kRequest = "4d504120494420526571204672616d65";  // MPA ID Req Frame

// What each end said, as digits; which side tshark shows first is its own choice, and the one that sent the Request goes first.
std::string followed(const std::string& capture, const std::string& layer, const std::string& as,
                     const std::string& keys) {
  const std::string shown = Command({"WIRESHARK_CONFIG_DIR=/nonexistent", "tshark", "-r", capture, "-q", "-d", as, "-o",
                                     "tls.keylog_file:" + keys, "-z", "follow," + layer + ",raw,0"},
                                    "env")
                                .wait()
                                .out;
  std::string of_first, of_second;  // whose lines have a tab
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t end = std::min(shown.find('\n', at), shown.size());
    std::string line = shown.substr(at, end - at);
    at = end + 1;
    std::string& side = line.starts_with('\t') ? of_second : of_first;
    if (line.starts_with('\t')) line.erase(0, 1);
    if (!line.empty() && line.find_first_not_of("0123456789abcdef") == std::string::npos) side += line;
  }
  if (!of_first.starts_with(kRequest)) std::swap(of_first, of_second);
  return of_first + '\n' + of_second;
}

// tshark reads the same octets with the same key log.
TEST_F(KeyLogged, TsharkAgrees) {
  if (Command({"-c", "tshark --version"}, "sh").wait().exit_code != 0)
    GTEST_SKIP() << "tshark is not installed: it has not read the same key log (Debian package tshark)";
  ping();
  const std::string inside = followed(wire, "tls", "tcp.port==" + port + ",tls", keys);
  const std::string clear = followed(engine, "tcp", "tcp.port==" + port + ",data", keys);
  EXPECT_TRUE(clear.starts_with(kRequest));
  EXPECT_TRUE(inside == clear) << inside.size() << " and " << clear.size() << " digits";
}

TEST(KeyLogOption, NamesWhatIsWrongWithTheFile) {
  const TemporaryDirectory directory;
  const std::string capture = directory.file("none.pcap"), log = directory.file("keys.log");
  put(log, "this is a shopping list\n");
  put(capture, "is not looked at");  // of a file that is complete so is its key log
  for (const char* command : {"audit", "dissect"}) {
    for (const auto& [file, why] : {std::pair{directory.file("missing"), "No such file or directory"},
                                    std::pair{std::string("/"), "Is a directory"}, std::pair{log, "is no key log: "}}) {
      const Ended ended = run({command, "--keylog", file, capture});
      EXPECT_EQ(ended.exit_code, 2) << command << ' ' << file;
      EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("--keylog: "));
      EXPECT_THAT(ended.err, HasSubstr(file));
      EXPECT_THAT(ended.err, HasSubstr(why));
    }
  }
}

}  // namespace
}  // namespace weft::test
