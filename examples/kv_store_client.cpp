// SPDX-License-Identifier: Apache-2.0
// A client of the key-value store. A get is one-sided: RDMA Reads of the server's table, without involving the server's
// program.
//
//     kv_store_client put ADDR PORT KEY VALUE [TIMES]
//     kv_store_client get ADDR PORT KEY [TIMES]          prints a line per get
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "kv_store.hpp"
#include "kv_store_read.hpp"

using namespace kv;

namespace {

constexpr std::chrono::seconds kPatience{10};

class TableEntry : public RemoteEntry {
 public:
  explicit TableEntry(weft::Connection& server)
      : server_(server), table_(must(weft::RemoteRegion::from_wire(server.peer_data()))) {}

  void choose(std::size_t index) { index_ = index; }
  void read(std::size_t offset, std::size_t length) override {
    const weft::RemoteRegion part = must(table_.subspan(index_ * sizeof(Entry) + offset, length));
    must(server_.read(must(copy_region_.subspan(offset, length)), part, kPatience));
  }

 private:
  weft::Connection& server_;
  weft::RemoteRegion table_;
  std::size_t index_ = 0;
  weft::Region copy_region_ = must(server_.register_memory(copy));
};

class Store {
 public:
  Store(const std::string& address, std::uint16_t port)
      : server_(must(weft::Connection::connect({address, port}, kPatience))) {}

  std::optional<std::string> get(std::string_view key) {
    for (std::size_t steps = 0; steps < kEntries; ++steps) {
      entry_.choose(place(key, steps));
      read_again_ += read_entry(entry_);
      if (entry_.copy.pair.key[0] == 0) break;
      if (key == entry_.copy.pair.key.data()) return entry_.copy.pair.value.data();
    }
    return std::nullopt;
  }

  void put(std::string_view key, std::string_view value) {
    if (key.empty() || key.size() >= pair_.key.size()) fail("KEY", "has to have 1 to 31 octets");
    if (value.size() >= pair_.value.size()) fail("VALUE", "has more than 999 octets");
    pair_ = {};
    std::ranges::copy(key, pair_.key.begin());
    std::ranges::copy(value, pair_.value.begin());
    must(server_.send(pair_region_, kPatience));
    must(server_.receive(answer_region_, kPatience));
    if (answer_ != Answer::kDone) fail("put", answer_ == Answer::kTableFull ? "the table is full" : "malformed");
  }

  [[nodiscard]] unsigned long read_again() const { return read_again_; }

 private:
  weft::Connection server_;
  TableEntry entry_{server_};
  Pair pair_{};      // pair to put
  Answer answer_{};  // reply to the put
  unsigned long read_again_ = 0;
  weft::Region pair_region_ = must(server_.register_memory(pair_));
  weft::Region answer_region_ = must(server_.register_memory(answer_));
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
