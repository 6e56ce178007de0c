// SPDX-License-Identifier: Apache-2.0
// `weft rping`, both ends weft's. That the stock tool understands either end is shown by tests/interop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <deque>

#include "command.hpp"

namespace weft::test {
namespace {

using Arguments = std::vector<std::string>;
using testing::HasSubstr;
using testing::Not;

// A server that has said that it listens.
class Server {
 public:
  explicit Server(const std::string& address = "127.0.0.1", const Arguments& more = {})
      : address_(address), port_(std::to_string(free_port())), command_(arguments(more)) {
    EXPECT_TRUE(command_.wait_for_output("listening on ")) << command_.err();
  }

  [[nodiscard]] Arguments client(const Arguments& more, const std::string& address = {}) const {
    Arguments all{"rping", "-c", "-a", address.empty() ? address_ : address, "-p", port_};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Command& command() { return command_; }
  [[nodiscard]] std::uint16_t port() const { return static_cast<std::uint16_t>(std::stoi(port_)); }

 private:
  [[nodiscard]] Arguments arguments(const Arguments& more) const {
    Arguments all{"rping", "-s", "-a", address_, "-p", port_, "-d"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  std::string address_;
  std::string port_;
  Command command_;
};

TEST(Rping, PrintsTheStockToolsLines) {
  Server server("127.0.0.1", {"-v", "-V"});
  const Ended client = run(server.client({"-C", "2", "-v", "-V"}));
  EXPECT_EQ(client.exit_code, 0) << client.err;
  EXPECT_EQ(client.out,
            "ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr\n"
            "ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs\n");
  const Ended ended = server.command().wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("server ping data: rdma-ping-1: BCDEFGHIJ"));
  EXPECT_THAT(ended.err, HasSubstr("server DISCONNECT EVENT..."));
}

struct Exchange {
  std::string name;
  std::string address;
  Arguments server{};
  Arguments client{};
};
void PrintTo(const Exchange& exchange, std::ostream* out) { *out << exchange.name; }

class Exchanges : public testing::TestWithParam<Exchange> {};

TEST_P(Exchanges, ValidateEveryPing) {
  const Exchange& exchange = GetParam();
  Server server(exchange.address, exchange.server);
  Arguments arguments{"-C", "20", "-V"};
  arguments.insert(arguments.end(), exchange.client.begin(), exchange.client.end());
  const Ended client = run(server.client(arguments));
  EXPECT_EQ(client.exit_code, 0) << client.err;
  const Ended ended = server.command().wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(
    Rping, Exchanges,
    testing::Values(Exchange{"plain", "127.0.0.1"}, Exchange{"ipv6", "::1"},
                    Exchange{"smallest", "127.0.0.1", {"-V"}, {"-S", "26"}},
                    Exchange{"odd_size", "127.0.0.1", {"-V"}, {"-S", "1001"}},
                    Exchange{"several_fpdus", "127.0.0.1", {"-V"}, {"-S", "60000"}},
                    Exchange{"largest", "::1", {"-V"}, {"-S", "65535"}},
                    Exchange{"server_checks_too", "127.0.0.1", {"-V"}},
                    Exchange{"source", "127.0.0.1", {}, {"-I", "127.0.0.2"}},
                    Exchange{"q_is_accepted", "127.0.0.1", {"-q"}, {"-q"}},
                    Exchange{"revision_1", "127.0.0.1", {}, {"--mpa-rev", "1"}},
                    Exchange{"falls_back_to_revision_1", "127.0.0.1", {"--mpa-rev", "1"}},
                    Exchange{"no_crc", "127.0.0.1", {"--no-crc"}, {"--no-crc", "-S", "5000"}},
                    Exchange{"crc_because_one_asks", "127.0.0.1", {"--no-crc"}, {"-S", "5000"}},
                    Exchange{"markers_both_ways", "::1", {"--markers"}, {"--markers", "-S", "9999"}},
                    Exchange{"markers_to_the_client", "127.0.0.1", {}, {"--markers", "-S", "9999"}},
                    Exchange{
                        "markers_to_the_server", "127.0.0.1", {"--markers", "--no-crc"}, {"--no-crc", "-S", "9999"}},
                    Exchange{"rtr_send", "127.0.0.1", {}, {"--rtr", "send"}},
                    Exchange{"rtr_write", "127.0.0.1", {}, {"--rtr", "write"}},
                    Exchange{"rtr_read", "127.0.0.1", {}, {"--rtr", "read"}},
                    Exchange{"rtr_none", "127.0.0.1", {}, {"--rtr", "none"}},
                    Exchange{"rtr_read_only", "127.0.0.1", {"--rtr", "read"}, {"--rtr", "read"}},
                    Exchange{"depths", "127.0.0.1", {"--ird", "4", "--ord", "4"}, {"--ird", "4", "--ord", "4"}}),
    testing::PrintToStringParamName());

TEST(Rping, ServerForBothFamilies) {
  Server server("::0", {"-P"});
  EXPECT_EQ(run(server.client({"-C", "1", "-V"}, "::1")).exit_code, 0);
  EXPECT_EQ(run(server.client({"-C", "1", "-V"}, "127.0.0.1")).exit_code, 0);
}

TEST(Rping, PersistentServerServesManyAtATime) {
  Server server("127.0.0.1", {"-P", "-V"});
  std::deque<Command> clients;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back(server.client({"-C", "100", "-V", "-S", std::to_string(100 + 1000 * i)}));
  for (Command& client : clients) {
    const Ended ended = client.wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
  }
  EXPECT_EQ(run(server.client({"-C", "1", "-V"})).exit_code, 0);  // and goes on
  server.command().signal(SIGTERM);
  EXPECT_EQ(server.command().wait().exit_code, 0);
}

TEST(Rping, AClientThatIsKilledDisturbsNobody) {
  Server server("127.0.0.1", {"-P"});
  Command other(server.client({"-C", "300", "-V"}));
  {
    Command killed(server.client({"-v"}));  // no -C: until killed
    EXPECT_TRUE(killed.wait_for_output("rdma-ping-20:"));
    killed.signal(SIGKILL);
    killed.wait();
  }
  EXPECT_EQ(other.wait().exit_code, 0) << other.err();
  EXPECT_EQ(run(server.client({"-C", "1", "-V"})).exit_code, 0);
}

// Something that is no MPA initiator connects first.
TEST(Rping, GarbageDoesNotStopThePersistentServer) {
  Server server("127.0.0.1", {"-P"});
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string garbage = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_EQ(::send(fd, garbage.data(), garbage.size(), MSG_NOSIGNAL), static_cast<ssize_t>(garbage.size()));
  EXPECT_EQ(run(server.client({"-C", "1", "-V"})).exit_code, 0);
  ::close(fd);
}

TEST(Rping, NobodyThereIsExitCode1AndASentence) {
  const Ended ended = run({"rping", "-c", "-a", "127.0.0.1", "-p", std::to_string(free_port()), "-C", "1"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
}

TEST(Rping, PortInUseIsExitCode1AndASentence) {
  Server server;
  const Ended ended = run({"rping", "-s", "-a", "127.0.0.1", "-p", std::to_string(server.port())});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(is_one_line(ended.err)) << ended.err;
}

// Peer-to-peer mode needs a ready-to-receive indication that both ends know.
TEST(Rping, NoCommonRtrIsExitCode1) {
  Server server("127.0.0.1", {"-P", "--rtr", "read"});
  const Ended ended = run(server.client({"-C", "1", "--rtr", "write"}));
  EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
}

// Both ends say what is the matter: the fault is neither's argument, nor did an application refuse.
TEST(Rping, NoRtrAtAllIsExitCode1AndASentenceAtBothEnds) {
  Server server("127.0.0.1", {"--rtr", "none"});
  const Ended client = run(server.client({"-C", "1", "--rtr", "write"}));
  EXPECT_EQ(client.exit_code, 1);
  EXPECT_THAT(client.err, HasSubstr("it accepts no ready-to-receive indication"));
  const Ended ended = server.command().wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("asks for a ready-to-receive indication"));
  EXPECT_THAT(ended.err, Not(HasSubstr("invalid argument")));
}

// Without room for a single RDMA Read at the client the server cannot fetch anything.
TEST(Rping, NoReadDepthIsAnErrorNotAHang) {
  Server server;
  EXPECT_EQ(run(server.client({"-C", "1", "--ird", "0"})).exit_code, 1);
  EXPECT_EQ(server.command().wait().exit_code, 1);
}

TEST(Rping, WritesACapture) {
  const TemporaryDirectory directory;
  Server server("127.0.0.1");
  EXPECT_EQ(run(server.client({"-C", "1", "--pcap", directory.file("c.pcap")})).exit_code, 0);
  Command size({"-s", directory.file("c.pcap")}, "test");
  EXPECT_EQ(size.wait().exit_code, 0);
}

}  // namespace
}  // namespace weft::test
