// SPDX-License-Identifier: Apache-2.0
#include "explain/model/answers.hpp"

#include <algorithm>
#include <array>
#include <deque>

#include "explain/model/model.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::explain {
namespace {

bool is(const MessageView& message, rdmap::Opcode opcode) { return message.opcode == std::to_underlying(opcode); }

// Requests of each end that wait for their Response. Both kinds of Response come in the order of their Requests
// (RDMAP-5.2.2-07, RDMAPX-5.2.2-11).
class Requests {
 public:
  explicit Requests(Connection& connection) : messages_(connection.messages) {}

  void take(std::size_t index) {
    MessageView& message = messages_[index];
    if (is(message, rdmap::Opcode::kReadRequest)) waiting(reads_, message.from).push_back(index);
    if (is(message, rdmap::Opcode::kAtomicRequest)) waiting(atomics_, message.from).push_back(index);
    if (is(message, rdmap::Opcode::kReadResponse)) answer(reads_, message);
    if (is(message, rdmap::Opcode::kAtomicResponse)) answer(atomics_, message);
  }

 private:
  using Waiting = std::array<std::deque<std::size_t>, 2>;

  static std::deque<std::size_t>& waiting(Waiting& all, Direction from) { return all[index_of(from)]; }

  void answer(Waiting& all, MessageView& response) {
    auto& oldest = waiting(all, opposite(response.from));
    // A Request whose rows begin after the Response is another one's.
    if (oldest.empty() || messages_[oldest.front()].rows.front() > response.rows.front()) return;
    response.answers = oldest.front();
    oldest.pop_front();
  }

  std::vector<MessageView>& messages_;
  Waiting reads_{}, atomics_{};
};

// The row whose DDP header the Terminate quotes: the latest one before it.
std::optional<std::size_t> quoted_row(const Connection& connection, Bytes quoted, Direction from, std::size_t before) {
  for (std::size_t i = before; i-- > 0;) {
    const Row& row = connection.rows[i];
    if (row.from != from || !row.segment) continue;
    if (std::ranges::equal(quoted, Bytes(row.segment->quotable).first(ddp::header_size(row.segment->header)))) return i;
  }
  return std::nullopt;
}

// siw quotes a Read Request right, and its DDP header wrong. What a Response has answered is taken off the quoted one.
std::optional<std::size_t> quoted_read(const Connection& connection, const rdmap::ReadRequest& quoted, Direction from,
                                       std::size_t before) {
  for (std::size_t i = before; i-- > 0;) {
    const Row& row = connection.rows[i];
    if (row.from != from || !row.message) continue;
    const MessageView& message = connection.messages[*row.message];
    const auto request = rdmap::parse_read_request(message.front);
    if (!is(message, rdmap::Opcode::kReadRequest) || !request) continue;
    if (request->source_stag == quoted.source_stag && request->sink_stag == quoted.sink_stag) return i;
  }
  return std::nullopt;
}

// Finds the FPDU with the error that MPA reported: MPA quotes nothing, so it is one with a wrong CRC.
std::optional<std::size_t> damaged_row(const Connection& connection, Direction from, std::size_t before) {
  for (std::size_t i = before; i-- > 0;) {
    const Row& row = connection.rows[i];
    const bool bad = row.wire.crc && row.wire.crc->verdict == conformance::CrcVerdict::kBad;
    if (row.kind == RowKind::kFpdu && row.from == from && bad) return i;
  }
  return std::nullopt;
}

void refuse(Connection& connection, MessageView& terminate) {
  const auto report = rdmap::parse_terminate(terminate.front);
  if (!report) return;
  const Direction from = opposite(terminate.from);
  const std::size_t here = terminate.rows.front();
  const auto& [error, length, header, read] = report->meant();
  std::optional<std::size_t> row;
  if (header) row = quoted_row(connection, header->octets(), from, here);
  if (!row && read) row = quoted_read(connection, *read, from, here);
  if (!row && error.layer == rdmap::Layer::kLlp) row = damaged_row(connection, from, here);
  if (!row) return;
  connection.rows[*row].effect.refused = here;
  terminate.answers = connection.rows[*row].message;
}

}  // namespace

void match_answers(Connection& connection) {
  Requests requests(connection);
  for (std::size_t i = 0; i < connection.messages.size(); ++i) {
    requests.take(i);
    MessageView& message = connection.messages[i];
    if (is(message, rdmap::Opcode::kTerminate)) refuse(connection, message);
  }
}

}  // namespace weft::explain
