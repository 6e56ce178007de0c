// SPDX-License-Identifier: Apache-2.0
#include "tests/explain/laboratory/edits.hpp"

#include <algorithm>
#include <array>

#include "tests/explain/laboratory/by_hand.hpp"

namespace weft::explain::laboratory::test {
namespace {

using engine::Direction;

struct Source {
  std::string_view capture;
  Direction from;
};

// Both roles, with and without CRC, Markers, every operation, several segments in a message.
constexpr std::array kSources{
    Source{"40-crc-rping", Direction::kFromInitiator},
    Source{"40-crc-rping", Direction::kFromResponder},
    Source{"12-send-inv", Direction::kFromInitiator},
    Source{"weft/read", Direction::kFromInitiator},
    Source{"weft/read", Direction::kFromResponder},
    Source{"weft/fetch-add", Direction::kFromInitiator},
    Source{"weft/fetch-add", Direction::kFromResponder},
    Source{"weft/immediate", Direction::kFromInitiator},
    Source{"weft/markers-both-ways", Direction::kFromInitiator},
    Source{"weft/markers-both-ways", Direction::kFromResponder},
    Source{"weft/rtr-read", Direction::kFromInitiator},
    Source{"weft/rtr-read", Direction::kFromResponder},
    Source{"46-crc-term-write-bad-stag", Direction::kFromResponder},
    Source{"forged/story", Direction::kFromInitiator},
    Source{"forged/story", Direction::kFromResponder},
};

class Editor {
 public:
  Editor(std::string_view name, Played played, std::vector<Edit>& out)
      : name_(name), played_(std::move(played)), out_(out) {}

  void all() {
    add("as it was", acts()).changed = false;
    startup_edits();
    for (const std::size_t index : chosen()) fpdu_edits(index);
  }

 private:
  [[nodiscard]] std::vector<Act> acts() const {
    std::vector<Act> all;
    for (const FedFrame& frame : played_.frames) all.push_back({frame.octets, frame.row});
    all.push_back({});
    return all;
  }
  Edit& add(const std::string& what, std::vector<Act> acts) {
    return out_.emplace_back(std::string(name_) + ": " + what, played_.script, std::move(acts));
  }
  // The first FPDU and one in the middle.
  [[nodiscard]] std::vector<std::size_t> chosen() const {
    const std::size_t last = played_.frames.size() - 1;
    if (last <= 2) return {last};
    return {1, (1 + last) / 2 == 1 ? 2 : (1 + last) / 2};
  }

  void flip(std::size_t index, std::size_t octet, std::byte bits, bool repaired) {
    std::vector<Act> changed = acts();
    Octets& octets = changed[index].octets;
    if (octet >= octets.size()) return;
    octets[octet] ^= bits;
    if (repaired) repair(octets);
    add("frame " + std::to_string(index) + ", octet " + std::to_string(octet) + " ^ " + digits_of(Bytes(&bits, 1)) +
            (repaired ? ", CRC repaired" : ""),
        std::move(changed));
  }

  // Key, flags, revision, length of the private data, what follows.
  void startup_edits() {
    for (const std::size_t octet : {4U, 16U, 17U, 19U, 20U, 23U}) flip(0, octet, std::byte{0x20}, false);
    std::vector<Act> together = acts();
    if (together.size() < 3) return;
    together[0].octets.insert(together[0].octets.end(), together[1].octets.begin(), together[1].octets.end());
    together.erase(together.begin() + 1);
    add("the first FPDU on the heels of the startup frame", std::move(together));
  }

  void fpdu_edits(std::size_t index) {
    // One octet of each field: length, DDP and RDMAP control, STag or word, TO or queue, MSN, MO; payload or PAD; CRC.
    for (const auto& [octet, bits] : std::initializer_list<std::pair<std::size_t, unsigned char>>{{1, 4},
                                                                                                  {2, 0x80},
                                                                                                  {2, 0x40},
                                                                                                  {2, 2},
                                                                                                  {3, 1},
                                                                                                  {3, 0x80},
                                                                                                  {7, 9},
                                                                                                  {9, 0x80},
                                                                                                  {11, 1},
                                                                                                  {15, 1},
                                                                                                  {19, 1},
                                                                                                  {20, 1}}) {
      flip(index, octet, std::byte{bits}, true);
    }
    const std::size_t size = played_.frames[index].octets.size();
    flip(index, size - 5, std::byte{1}, false);
    flip(index, size - 1, std::byte{0x80}, false);
    order_edits(index);
    cut_edits(index);
  }

  void order_edits(std::size_t index) {
    const auto at = static_cast<std::ptrdiff_t>(index);
    std::vector<Act> dropped = acts();
    dropped.erase(dropped.begin() + at);
    add("frame " + std::to_string(index) + " dropped", std::move(dropped));
    std::vector<Act> twice = acts();
    twice.insert(twice.begin() + at, twice[index]);
    add("frame " + std::to_string(index) + " twice", std::move(twice));
    if (index + 1 >= played_.frames.size()) return;
    std::vector<Act> swapped = acts();
    std::swap(swapped[index].octets, swapped[index + 1].octets);
    add("frames " + std::to_string(index) + " and the next in each other's place", std::move(swapped));
  }

  void cut_edits(std::size_t index) {
    const Octets& octets = played_.frames[index].octets;
    const auto half = static_cast<std::ptrdiff_t>(octets.size() / 2);
    std::vector<Act> cut = acts();
    cut[index].octets.resize(octets.size() / 2);
    add("frame " + std::to_string(index) + " cut short", std::move(cut));
    std::vector<Act> pieces = acts();
    pieces[index].octets.erase(pieces[index].octets.begin() + half, pieces[index].octets.end());
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                  Act{{octets.begin() + half, octets.end()}, pieces[index].row});
    add("frame " + std::to_string(index) + " in two pieces", std::move(pieces));
    if (octets.size() > 100) return;
    std::vector<Act> single = acts();
    single.erase(single.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::size_t i = octets.size(); i-- > 0;) {
      single.insert(single.begin() + static_cast<std::ptrdiff_t>(index), Act{{octets[i]}, played_.frames[index].row});
    }
    add("frame " + std::to_string(index) + " one octet at a time", std::move(single));
  }

  std::string_view name_;
  Played played_;
  std::vector<Edit>& out_;
};

}  // namespace

std::vector<Edit> table_of_edits(const std::string& samples) {
  std::vector<Edit> table;
  for (const Source& source : kSources) {
    const auto connections = captures::read_connections(samples + "/" + std::string(source.capture) + ".pcap");
    Editor(source.capture, play_against(connections.at(0), source.from), table).all();
  }
  return table;
}

}  // namespace weft::explain::laboratory::test
