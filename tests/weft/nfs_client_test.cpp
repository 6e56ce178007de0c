// SPDX-License-Identifier: Apache-2.0
// The client of examples/nfs against a server that answers what the test says: correct octets, and a hostile server's.
#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "examples/nfs/nfs3.hpp"
#include "tests/weft/ends.hpp"

namespace weft::test {
namespace {

using nfs::Client;
using nfs::Decoder;
using nfs::Encoder;
using nfs::Octets;

// A call as the server gets it.
struct Request {
  std::uint32_t xid{};
  std::vector<std::uint32_t> words{};  // all of it
};
using Answer = std::function<Octets(const Request&)>;

// One connection: each call gets one message.
class Server {
 public:
  explicit Server(Answer answer) : answer_(std::move(answer)), thread_([this] { serve(); }) {}
  ~Server() { over_ = true; }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  [[nodiscard]] Endpoint address() const { return listener_.local(); }

 private:
  static constexpr std::size_t kSize = 4096;
  void serve() {
    Connection client = must(listener_.next(kPatience));
    std::vector<std::byte> in(kSize);
    std::vector<std::byte> out(kSize);
    const Region receives = must(client.register_memory(in));
    const Region sends = must(client.register_memory(out));
    must(client.receive(receives, Post{.wr_id = 1}));
    must(client.establish(kPatience));
    while (!over_) {
      std::array<verbs::WorkCompletion, 1> done;
      const auto count = client.completions(done, 10ms);
      if (!count) continue;
      if (done[0].status != verbs::WcStatus::kSuccess) return;
      if (done[0].wr_id != 1) continue;
      const Octets reply = answer_(parse(std::span(in).first(done[0].byte_len)));
      std::ranges::copy(reply, out.begin());
      const bool received = client.receive(receives, Post{.wr_id = 1}).has_value();
      if (!received || !client.send(must(sends.subspan(0, reply.size())), Post{.wr_id = 2}))
        return;  // the client has gone
    }
  }
  static Request parse(std::span<const std::byte> octets) {
    Request request;
    for (Decoder in(octets); in.left().size() >= 4;) request.words.push_back(in.u32());
    request.xid = request.words.at(0);
    return request;
  }

  const Answer answer_;
  std::atomic<bool> over_ = false;
  Listener listener_ = must(Listener::listen({"127.0.0.1", 0}));
  std::jthread thread_;
};

Encoder header(std::uint32_t xid, std::uint32_t type = 0, std::uint32_t version = 1) {
  return Encoder().u32(xid).u32(version).u32(8).u32(type);
}
// RPC: accepted and executed.
Encoder& accepted(Encoder& out, std::uint32_t xid, std::uint32_t status = 0) {
  return out.u32(xid).u32(1).u32(0).u32(0).u32(0).u32(status);
}
// A reply without chunks.
Encoder inline_reply(std::uint32_t xid) {
  Encoder out = header(xid);
  out.u32(0).u32(0).u32(0);
  return accepted(out, xid);
}

const nfs::FileHandle kDirectory(32, std::byte{7});

// Of a READ: words 5 to 10 are the write list with one segment.
constexpr std::size_t kRkey = 7;
Encoder read_reply(const Request& request, std::uint32_t rkey, std::uint32_t length, std::uint32_t low) {
  Encoder out = header(request.xid);
  out.u32(0).u32(1).u32(1).u32(rkey).u32(length).u32(request.words.at(kRkey + 2)).u32(low).u32(0).u32(0);
  return accepted(out, request.xid);
}

bool is_lookup(const Request& request) {
  return request.words.at(4) == 0 && request.words.at(5) == 0 && request.words.at(6) == 0;
}
Octets found(const Request& request) {
  return inline_reply(request.xid).u32(0).opaque(kDirectory).u32(0).u32(0).octets();
}

// What the client throws for this answer; empty if nothing.
std::string failure(const Answer& answer, const std::function<void(Client&)>& use) {
  Server server(answer);
  try {
    nfs::Channel channel(server.address(), kPatience, 0ms);
    Client client(channel, kDirectory);
    use(client);
  } catch (const nfs::Failure& thrown) {
    return thrown.what();
  }
  return {};
}

TEST(NfsClient, ACallHasTheOctetsOfTheRfcs) {
  std::vector<std::uint32_t> words;
  EXPECT_EQ(failure(
                [&](const Request& request) {
                  words = request.words;
                  return inline_reply(request.xid).u32(0).u32(0).u32(0).octets();
                },
                [](Client& client) { client.remove("old"); }),
            "");
  ASSERT_GE(words.size(), 7U);
  const std::uint32_t xid = words[0];
  // RFC 8166 section 4.2: xid, version, credits, RDMA_MSG, and three empty lists; RFC 5531 section 9; RFC 1813 section 3.3.12.
  const std::vector<std::uint32_t> begins{xid, 1, 4, 0, 0, 0, 0, xid, 0, 2, 100003, 3, 12, 1};
  EXPECT_TRUE(std::equal(begins.begin(), begins.end(), words.begin()));
  const std::vector<std::uint32_t> ends{0,          0,          32,         0x07070707, 0x07070707,
                                        0x07070707, 0x07070707, 0x07070707, 0x07070707, 0x07070707,
                                        0x07070707, 3,          0x6f6c6400};
  ASSERT_GE(words.size(), ends.size());
  EXPECT_TRUE(std::equal(ends.rbegin(), ends.rend(), words.rbegin()));
}

TEST(NfsClient, ListsADirectory) {
  std::vector<Client::Entry> entries;
  const auto answer = [](const Request& request) {
    Encoder out = inline_reply(request.xid);
    out.u32(0).u32(0).u64(9);  // no attributes; the verifier
    out.u32(1).u64(5).text(".").u64(1).u32(0).u32(0);
    out.u32(1).u64(6).text("letters").u64(2).u32(1);
    for (int i = 0; i < 5; ++i) out.u32(0);
    out.u64(4711);
    for (int i = 0; i < 14; ++i) out.u32(0);
    out.u32(0).u32(0).u32(1);  // no handle; no more entries; the end
    return out.octets();
  };
  EXPECT_EQ(failure(answer, [&](Client& client) { entries = client.list(); }), "");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "letters");
  EXPECT_EQ(entries[0].size, 4711U);
}

struct Hostile {
  const char* expected;
  Answer answer;
};

TEST(NfsClient, WhatAHostileServerRepliesIsNamed) {
  const std::vector<Hostile> cases{
      {"replies to another call", [](const Request& r) { return inline_reply(r.xid + 1).octets(); }},
      {"another version", [](const Request& r) { return header(r.xid, 0, 2).octets(); }},
      {"RDMA_ERROR 2", [](const Request& r) { return header(r.xid, 4).u32(2).octets(); }},
      {"no reply", [](const Request& r) { return header(r.xid, 9).octets(); }},
      {"has a read list", [](const Request& r) { return header(r.xid).u32(1).u32(0).octets(); }},
      {"neither 0 nor 1", [](const Request& r) { return header(r.xid).u32(2).octets(); }},
      {"write chunk: the server names memory",
       [](const Request& r) { return header(r.xid).u32(0).u32(1).u32(1).octets(); }},
      {"reply chunk: the server names memory",
       [](const Request& r) { return header(r.xid).u32(0).u32(0).u32(1).u32(1).octets(); }},
      {"ends too early", [](const Request& r) { return header(r.xid, 1).u32(0).u32(0).u32(0).octets(); }},
      {"ends too early", [](const Request&) { return Octets(3); }},
      {"denies", [](const Request& r) { return header(r.xid).u32(0).u32(0).u32(0).u32(r.xid).u32(1).u32(1).octets(); }},
      {"accept_stat 4",
       [](const Request& r) {
         Encoder out = header(r.xid);
         out.u32(0).u32(0).u32(0);
         return accepted(out, r.xid, 4).octets();
       }},
      {"more octets than the protocol permits",
       [](const Request& r) {
         return header(r.xid).u32(0).u32(0).u32(0).u32(r.xid).u32(1).u32(0).u32(0).u32(0xffffffff).octets();
       }},
      {"old: No such file", [](const Request& r) { return inline_reply(r.xid).u32(2).octets(); }},
      {"nfsstat3 10004", [](const Request& r) { return inline_reply(r.xid).u32(10004).octets(); }},
  };
  for (const Hostile& one : cases) {
    const std::string said = failure(one.answer, [](Client& client) { client.remove("old"); });
    EXPECT_NE(said.find(one.expected), std::string::npos) << one.expected << ": " << said;
  }
}

TEST(NfsClient, AChunkIsOnlyWhatWasOffered) {
  const auto read = [](const std::function<Octets(const Request&)>& answer) {
    return failure([&](const Request& request) { return is_lookup(request) ? found(request) : answer(request); },
                   [](Client& client) { client.read("file", [](auto) {}); });
  };
  const auto rkey = [](const Request& r) { return r.words.at(kRkey); };
  const auto low = [](const Request& r) { return r.words.at(kRkey + 3); };
  // Results: no attributes, count, end, octets.
  const auto results = [](Encoder out, std::uint32_t count, std::uint32_t end) {
    return out.u32(0).u32(0).u32(count).u32(end).u32(count).octets();
  };
  EXPECT_EQ(read([&](const Request& r) { return results(read_reply(r, rkey(r), 5, low(r)), 5, 1); }), "");
  for (const auto& wrong : std::vector<Answer>{
           [&](const Request& r) { return results(read_reply(r, rkey(r) ^ 1, 5, low(r)), 5, 1); },
           [&](const Request& r) { return results(read_reply(r, rkey(r), 5, low(r) + 4), 5, 1); },
           [&](const Request& r) { return results(read_reply(r, rkey(r), 0xffffffff, low(r)), 5, 1); }}) {
    EXPECT_NE(read(wrong).find("not offered"), std::string::npos);
  }
  EXPECT_NE(
      read([&](const Request& r) { return results(read_reply(r, rkey(r), 5, low(r)), 6, 1); }).find("contradicts"),
      std::string::npos);
  EXPECT_NE(
      read([&](const Request& r) { return results(read_reply(r, rkey(r), 0, low(r)), 0, 0); }).find("no progress"),
      std::string::npos);
}

TEST(NfsClient, ADirectoryHasToEnd) {
  const auto answer = [](const Request& request) {
    return inline_reply(request.xid).u32(0).u32(0).u64(9).u32(0).u32(0).octets();  // no entries, and not the end
  };
  EXPECT_EQ(failure(answer, [](Client& client) { static_cast<void>(client.list()); }),
            "list: the server makes no progress");
}

TEST(NfsClient, AServerThatHasRestartedIsNoticed) {
  int calls = 0;
  const auto answer = [&](const Request& request) {
    switch (calls++) {
      case 0: return inline_reply(request.xid).u32(0).u32(1).opaque(kDirectory).u32(0).u32(0).u32(0).octets();
      case 1: return inline_reply(request.xid).u32(0).u32(0).u32(0).u32(4).u32(0).u64(1).octets();
      default: return inline_reply(request.xid).u32(0).u32(0).u32(0).u64(2).octets();
    }
  };
  int given = 0;
  const auto write = [&](Client& client) {
    client.write("file", [&](std::span<std::byte>) -> std::size_t { return given++ == 0 ? 4 : 0; });
  };
  EXPECT_EQ(failure(answer, write), "file: the server has restarted, and may have lost what was written");
}

TEST(NfsClient, AServerThatSaysNothingIsWaitedForNoLonger) {
  std::atomic<bool> asked = false;
  Server server([&](const Request& request) {
    asked = true;
    std::this_thread::sleep_for(300ms);
    return inline_reply(request.xid).octets();
  });
  nfs::Channel channel(server.address(), 100ms, 0ms);
  Client client(channel, kDirectory);
  try {
    client.remove("old");
    FAIL() << "it waits";
  } catch (const nfs::Failure& late) {
    EXPECT_NE(std::string(late.what()).find("no reply of the server"), std::string::npos) << late.what();
  }
  EXPECT_TRUE(asked);
}

}  // namespace
}  // namespace weft::test
