// SPDX-License-Identifier: Apache-2.0
// A client of the key-value store. A get is one-sided: three RDMA Reads of the server's table, without involving the
// server's program.
//
//     kv_store_client put ADDR PORT KEY VALUE [TIMES]
//     kv_store_client get ADDR PORT KEY [TIMES]          prints a line per get
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "kv_store.hpp"

using namespace kv;

namespace {

class Store {
 public:
  Store(const std::string& address, std::uint16_t port) : desk_(resolve(must(lookup(address, port), "ADDR"))) {
    must(id_.connect(desk_.queue_pair), "connect");
    const ConnectionEvent established = expect(ConnectionEventType::kEstablished);
    if (established.private_data.size() < sizeof server_) fail("connect", "that is no kv_store_server");
    std::memcpy(&server_, established.private_data.data(), sizeof server_);
  }

  std::optional<std::string> get(std::string_view key) {
    for (std::size_t steps = 0; steps < kEntries; ++steps) {
      read(place(key, steps));
      if (copy_.pair.key[0] == 0) break;
      if (key == copy_.pair.key.data()) return copy_.pair.value.data();
    }
    return std::nullopt;
  }

  void put(std::string_view key, std::string_view value) {
    if (key.empty() || key.size() >= pair_.key.size()) fail("KEY", "has to have 1 to 31 octets");
    if (value.size() >= pair_.value.size()) fail("VALUE", "has more than 999 octets");
    pair_ = {};
    std::ranges::copy(key, pair_.key.begin());
    std::ranges::copy(value, pair_.value.begin());
    const std::array from{pair_region_.sge()};
    const std::array into{answer_region_.sge()};
    must(desk_.queue_pair.post_receive({.segments = into}), "post a receive");
    must(desk_.queue_pair.post_send({.opcode = SendOpcode::kSend, .segments = from}), "put");
    desk_.wait("put");
    if (answer_ != Answer::kDone) fail("put", answer_ == Answer::kTableFull ? "the table is full" : "malformed");
  }

  [[nodiscard]] unsigned long read_again() const { return read_again_; }

 private:
  ConnectionEvent expect(ConnectionEventType wanted) {
    ConnectionEvent event = must(events_.get_event(std::chrono::seconds(10)), to_string(wanted));
    if (event.type != wanted) fail(to_string(wanted), event.error ? event.error->message() : to_string(event.type));
    return event;
  }
  Device resolve(const Endpoint& server) {
    must(id_.resolve_address(server), "resolve");
    expect(ConnectionEventType::kAddressResolved);
    must(id_.resolve_route(), "route");
    expect(ConnectionEventType::kRouteResolved);
    return must(id_.device(), "device");
  }

  // Reads an entry until it is consistent. Neither the octets of one Read nor concurrent Reads are ordered (RFC 5040
  // section 5.5, rules 8 and 20), so each part waits for the previous one.
  void read(std::size_t index) {
    constexpr std::array<std::pair<std::size_t, std::size_t>, 3> kParts{{{offsetof(Entry, front), sizeof(Entry::front)},
                                                                         {offsetof(Entry, pair), sizeof(Entry::pair)},
                                                                         {offsetof(Entry, back), sizeof(Entry::back)}}};
    for (int tries = 0; tries < 10000; ++tries, ++read_again_) {
      for (const auto& [offset, length] : kParts) {
        const std::array into{copy_region_.sge(offset, std::uint32_t(length))};
        must(desk_.queue_pair.post_send({.opcode = SendOpcode::kRdmaRead,
                                         .flags = SendFlags::kSignaled,
                                         .segments = into,
                                         .remote_address = server_.address + index * sizeof(Entry) + offset,
                                         .rkey = std::uint32_t(server_.rkey)}),
             "get");
        desk_.wait("get");
      }
      if (copy_.front == copy_.back) return;
    }
    fail("get", "the entry has changed under each of 10000 reads");
  }

  EventChannel events_ = must(EventChannel::create(), "event channel");
  ConnectionId id_ = must(ConnectionId::create(events_), "connection");
  Desk desk_;
  Invitation server_{};
  Pair pair_{};      // pair to put
  Answer answer_{};  // reply to the put
  Entry copy_{};     // entry that was read
  unsigned long read_again_ = 0;
  MemoryRegion pair_region_ = must(desk_.domain.register_memory(&pair_, sizeof pair_), "register");
  MemoryRegion answer_region_ =
      must(desk_.domain.register_memory(&answer_, sizeof answer_, Access::kLocalWrite), "register");
  MemoryRegion copy_region_ = must(desk_.domain.register_memory(&copy_, sizeof copy_, Access::kLocalWrite), "register");
};

unsigned long number(const std::string& word, const char* name, unsigned long most) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(word.c_str(), &end, 10);
  if (word.empty() || word[0] < '0' || word[0] > '9' || *end != '\0' || value > most) fail(name, "has to be a number");
  return value;
}

int run(const std::vector<std::string>& words) {
  const std::string what = words.empty() ? "" : words[0];
  const std::size_t wanted = what == "put" ? 5 : what == "get" ? 4 : 0;
  if (wanted == 0 || words.size() < wanted || words.size() > wanted + 1) {
    std::fprintf(stderr, "usage: kv_store_client put ADDR PORT KEY VALUE [TIMES] | get ADDR PORT KEY [TIMES]\n");
    return 2;
  }
  Store store(words[1], std::uint16_t(number(words[2], "PORT", 65535)));
  const unsigned long times = words.size() > wanted ? number(words[wanted], "TIMES", ~0UL) : 1;
  for (unsigned long i = 0; i < times; ++i) {
    if (what == "put") {
      store.put(words[3], words[4]);
    } else if (const auto value = store.get(words[3])) {
      std::printf("%s\n", value->c_str());
    } else {
      fail("get", "there is no such key");
    }
  }
  if (what == "get" && words.size() > wanted)
    std::fprintf(stderr, "%lu times an entry changed while it was read\n", store.read_again());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "kv_store_client: %s\n", failure.what());
    return 1;
  }
}
