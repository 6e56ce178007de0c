// SPDX-License-Identifier: Apache-2.0
// One connection of a session: its queue pair, its receives, what is for it alone, and the orders that it carries out.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tools/probe_peer/session.hpp"

namespace weft::tools::probe_peer {

class Guest {
 public:
  static constexpr std::uint16_t kMostRequests = 1024;  // of its send queue; an order for more is cut
  static constexpr std::uint16_t kMostReceives = 1024;  // at first; orders may post as many again
  static constexpr std::uint32_t kMostCompletions = kMostRequests + 2 * kMostReceives;

  // Its number is the upper half of the wr_ids of its work.
  Guest(Resources& resources, std::shared_ptr<Session> session, const probe::Wish& wish, std::uint32_t number);
  ~Guest();
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  [[nodiscard]] probe::Advert advert(std::uint16_t ird, std::uint16_t ord) const;
  verbs::QueuePair& queue_pair() noexcept { return pair_; }
  [[nodiscard]] Session& session() noexcept { return *session_; }
  [[nodiscard]] const std::shared_ptr<Session>& shared_session() const noexcept { return session_; }
  [[nodiscard]] const probe::Wish& wish() const noexcept { return wish_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  // Returns the size of its own memory.
  [[nodiscard]] std::size_t octets() const noexcept { return receives_.size + this_stream_.size + windowed_.size; }
  std::optional<verbs::ConnectionId> id{};

  // Once the connection is established: the window is bound. `speak`: something is sent, so that the peer may send.
  void begin(bool speak);
  void completed(const verbs::WorkCompletion& done);
  // Sends what a peer may send at any time: an empty RDMA Write, a Send, an empty RDMA Read. Nothing while an earlier
  // one of them is unfinished, or before begin().
  void chat();
  // The stream is over: what it ended with goes into the report, once.
  void note_end();
  // What a report says of streams that have not been told yet.
  void note_terminate();

 private:
  void received(const verbs::WorkCompletion& done);
  void carry_out(const probe::Order& order);
  void request(const probe::Order& order);
  void post_receive(std::uint32_t index);
  void answer();
  void answer_when_done();
  bool post(verbs::SendRequest request);
  [[nodiscard]] verbs::SendRequest request_of(const probe::Order& order, const verbs::Sge& work) const;

  // What a wr_id's lower half says.
  static constexpr std::uint32_t kReceive = 0x80000000;  // and which buffer
  static constexpr std::uint32_t kAnswerWork = 1, kBindWork = 2, kSpeakWork = 3, kOrderWork = 4, kChatWork = 5;

  std::shared_ptr<Session> session_;
  probe::Wish wish_;
  std::uint32_t number_;
  verbs::QueuePair pair_;
  Registered receives_{};
  Registered this_stream_{};
  Registered windowed_{};
  struct Window {
    verbs::MemoryWindow window;
    std::uint32_t key{};
    std::uint8_t rights{};
  };
  std::vector<Window> windows_{};  // of the same part of windowed_
  std::uint32_t posted_{};         // receives, of which the buffers are used in turn
  std::uint32_t unfinished_{};     // of the orders' requests
  std::uint32_t chatting_{};       // unfinished requests of chat()
  bool answers_ = false;           // after the last of them, for an order that asked for it
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace weft::tools::probe_peer
