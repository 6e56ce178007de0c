// SPDX-License-Identifier: Apache-2.0
// The model as JSON: it parses, its indices name something, and it stays small.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "explain/model/json.hpp"
#include "explain/tour/conversation.hpp"
#include "samples.hpp"

namespace weft::explain::test {
namespace {

using nlohmann::json;

void expect_index(const json& object, const char* key, std::size_t size) {
  if (!object.contains(key)) return;
  EXPECT_LT(object[key].get<std::size_t>(), size) << key << " of " << object.dump();
}

void expect_fields(const json& fields, const json& model) {
  for (const json& field : fields) {
    ASSERT_GE(field.size(), 4U);
    EXPECT_LT(field[2].get<std::size_t>(), model["names"].size());
    EXPECT_LT(field[3].get<std::size_t>(), model["strings"].size());
    EXPECT_LT(field.back().get<std::size_t>(), model["strings"].size());
  }
}

void expect_row(const json& row, const json& connection, const json& model) {
  const std::string other = row["from"] == "initiator" ? "responder" : "initiator";
  const json& memory = connection["memory"][other];
  expect_index(row, "lower", model["packets"].size());
  expect_index(row, "message", connection["messages"].size());
  expect_index(row, "refused", connection["rows"].size());
  expect_index(row, "before", connection["states"].size());
  expect_index(row, "after", connection["states"].size());
  if (row.contains("placed")) {
    expect_index(row["placed"], "region", memory["regions"].size());
    expect_index(row["placed"], "receive", memory["receives"].size());
  }
  if (row.contains("touches")) expect_index(row["touches"], "region", memory["regions"].size());
  if (row.contains("fields")) expect_fields(row["fields"], model);
  if (!row.contains("octets")) return;
  EXPECT_EQ(row["octets"].get<std::string>().size(), 2 * row["size"].get<std::size_t>());
}

void expect_sound(const json& model) {
  for (const json& packet : model["packets"]) expect_fields(packet["fields"], model);
  for (const json& name : model["names"]) {
    for (const json& clause : name[2]) EXPECT_TRUE(model["clauses"].contains(clause)) << clause;
  }
  for (const json& connection : model["connections"]) {
    for (const json& row : connection["rows"]) expect_row(row, connection, model);
    for (const json& message : connection["messages"]) expect_index(message, "answers", connection["messages"].size());
    for (const json& finding : connection["findings"]) {
      EXPECT_TRUE(model["clauses"].contains(finding["clause"]));
      expect_index(finding, "row", connection["rows"].size());
    }
  }
}

TEST(Json, OfTheTourIsSound) {
  const json model = json::parse(to_json(tour()));
  expect_sound(model);
  EXPECT_EQ(model["connections"].size(), 1U);
  EXPECT_EQ(model["connections"][0]["lab"].size(), 2U);
}

TEST(Json, OfSamplesIsSound) {
  for (const char* const name : {"20-term-write-bad-stag.pcap", "61-nvme-rdma-crc-mtu1500.pcap", "30-reject.pcap",
                                 "weft/everything-markers.pcap", "weft/ipv6.pcap", "broken/mpa-4.4-13.pcap"})
    expect_sound(json::parse(to_json(sample(name))));
}

// All keys that objects of a kind have in these captures, and the words in their lists.
struct Keys {
  using Set = std::set<std::string>;
  std::map<std::string, Set> of{};

  void add(const std::string& kind, const json& object) {
    for (const auto& [key, value] : object.items()) of[kind].insert(key);
  }
  void add_all(const std::string& kind, const json& list) {
    for (const json& object : list) add(kind, object);
  }
  void add_regions(const std::string& kind, const json& regions) {
    add_all(kind, regions);
    for (const json& region : regions) {
      for (const json& right : region["rights"]) of["rights"].insert(right.get<std::string>());
    }
  }
  void add_row(const json& row) {
    add("row", row);
    if (row.contains("markers")) add_all("marker", row["markers"]);
    for (const char* const part : {"pad", "crc", "placed", "touches"}) {
      if (row.contains(part)) add(part, row[part]);
    }
  }
  void add_lab(const json& script) {
    add("lab", script);
    add_regions("lab region", script["regions"]);
    add_all("post", script["posts"]);
    for (const json& post : script["posts"]) {
      if (post.contains("atomic")) add("atomic", post["atomic"]);
    }
  }
  void add_model(const json& model) {
    add("model", model);
    add_all("packet", model["packets"]);
    add_all("connection", model["connections"]);
    for (const json& connection : model["connections"]) {
      for (const json& row : connection["rows"]) add_row(row);
      add_all("message", connection["messages"]);
      add_all("state", connection["states"]);
      add_all("finding", connection["findings"]);
      for (const json& memory : connection["memory"]) {
        add_regions("region", memory["regions"]);
        add_all("receive", memory["receives"]);
      }
      for (const json& script : connection["lab"]) add_lab(script);
    }
  }
};

// docs/explain.md, which the page's scripts rely on.
TEST(Json, HasTheDocumentedKeys) {
  Keys keys;
  keys.add_model(json::parse(to_json(tour())));
  for (const char* const name : {"24-term-send-no-buffer.pcap", "30-reject.pcap", "53-p2p-rtr-write.pcap",
                                 "broken/mpa-4.1-03.pcap", "weft/everything-markers.pcap"})
    keys.add_model(json::parse(to_json(sample(name))));
  const std::map<std::string, Keys::Set> documented{
      {"model", {"weft", "source", "notes", "names", "strings", "clauses", "packets", "connections"}},
      {"packet", {"number", "octets", "fields"}},
      {"connection",
       {"id", "initiator", "responder", "roles_known", "revision", "crc", "markers", "rows", "messages", "states",
        "memory", "findings", "lab"}},
      {"row", {"kind",          "from",   "time",    "packet", "words",   "lower",   "size", "octets",
               "stream_offset", "number", "message", "fields", "markers", "pad",     "crc",  "placed",
               "touches",       "takes",  "refused", "before", "after",   "findings"}},
      {"marker", {"at", "pointer", "points_at"}},
      {"pad", {"octets", "words"}},
      {"crc", {"field", "computed", "verdict", "words"}},
      {"placed", {"region", "receive", "offset", "octets"}},
      {"touches", {"region", "offset", "octets", "how"}},
      {"message", {"what", "octets", "rows", "answers", "rtr"}},
      {"state", {"msn", "mo", "ird", "ord", "state"}},
      {"region", {"stag", "begin", "octets", "rights", "why"}},
      {"receive", {"queue", "msn", "octets"}},
      {"rights", {"remote write", "remote read", "remote atomic", "sink of reads"}},
      {"finding", {"clause", "severity", "sentence", "message", "packet", "from", "row", "at", "size"}},
      {"lab",
       {"role", "crc", "markers", "revision", "enhanced", "ird", "ord", "private_data", "peer_to_peer", "rtr", "reject",
        "no_receive", "regions", "receives", "posts"}},
      {"lab region", {"stag", "begin", "octets", "rights", "why", "content"}},
      {"post", {"before_row", "what", "sink_stag", "sink_to", "source_stag", "source_to", "octets", "atomic"}},
      {"atomic", {"what", "request_id", "data", "mask", "compare", "compare_mask"}}};
  for (const auto& [kind, expected] : documented) EXPECT_EQ(keys.of[kind], expected) << kind;
  EXPECT_EQ(keys.of.size(), documented.size());
}

// Of the tour and of every capture that there is, damaged ones up to the damage.
TEST(Fields, EveryOneHasASentenceAndAReference) {
  const auto check = [](const Model& model) {
    for (const FieldInfo& field : model.glossary.names()) {
      EXPECT_NE(field.reference, "") << model.source << ": " << field.layer << ' ' << field.name;
      EXPECT_TRUE(field.sentence.ends_with('.')) << model.source << ": " << field.layer << ' ' << field.name;
    }
    return model.glossary.names().size();
  };
  EXPECT_GT(check(tour()), 60U);
  std::size_t captures = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(WEFT_PCAP_SAMPLES)) {
    if (entry.path().extension() != ".pcap" && entry.path().extension() != ".pcapng") continue;
    check(sample(std::filesystem::relative(entry.path(), WEFT_PCAP_SAMPLES).string()));
    ++captures;
  }
  EXPECT_GT(captures, 300U);
}

TEST(Json, HasTheClausesOfWhatAnEngineTells) {
  const json clauses = json::parse(to_json(Model{}))["clauses"];
  const json stag = {
      {"rfc", 5041}, {"section", "7.1"}, {"text", "Broken when the STag is invalid, or allows no placement"}};
  EXPECT_EQ(clauses.at("DDP-7.1-12"), stag);
  EXPECT_EQ(clauses.at("RDMAP-IANA-3.3-02").at("section"), "3.3");
  EXPECT_EQ(clauses.at("RDMAP-IANA-3.3-02").at("rfc"), 6580);
  for (const auto& [id, clause] : clauses.items()) {
    EXPECT_GT(clause.at("rfc").get<int>(), 5000) << id;
    EXPECT_FALSE(clause.at("text").get<std::string>().empty()) << id;
  }
}

// The page has to hold that many, each in a packet of its own.
TEST(Json, OfTenThousandMessagesIsBelowSixteenMegabytes) {
  ModelMaker maker("many");
  engine::Config initiator, responder;
  initiator.role = mpa::Role::kInitiator;
  responder.role = mpa::Role::kResponder;
  Conversation talk(initiator, responder, [&](const conformance::Packet& packet) { maker.take(packet); });
  talk.memory(TourEnd::kInitiator).add(1, 64);
  const rdmap::LocalSegment source{.address = 0, .length = 64, .lkey = 1};
  talk.open({}, {});
  for (int i = 0; i < 10'000; ++i) {
    talk.memory(TourEnd::kResponder).post_receive(0, 64);
    talk.post(TourEnd::kInitiator, {.operation = engine::Operation::kSend, .local = rdmap::LocalSegments(&source, 1)});
  }
  talk.close();
  maker.close();
  const Model model = maker.finish();
  EXPECT_EQ(model.connections.at(0).messages.size(), 10'000U);
  EXPECT_LT(to_json(model).size(), 16'000'000U);
}

}  // namespace
}  // namespace weft::explain::test
