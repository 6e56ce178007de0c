// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/server.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/child_process.hpp"
#include "tools/cli/pattern.hpp"
#include "tools/demo/script.hpp"
#include "tools/link/advertisement.hpp"
#include "tools/link/link.hpp"

namespace weft::tools::demo {
namespace {

constexpr std::uint32_t kInboxSize = 8192;

class Server {
 public:
  explicit Server(Link link) : inbox_(kInboxSize), board_(kBoardSize), link_(std::move(link)) {}

  Outcome<void> share_memory() {
    using enum verbs::Access;
    auto inbox = link_.register_memory(inbox_, kLocalWrite);
    if (!inbox) return std::unexpected(inbox.error());
    inbox_region_.emplace(std::move(*inbox));
    // Bound to this connection: only then may the peer invalidate it (RFC 5042 section 2.2.5).
    auto board = link_.domain().register_memory(board_.data(), board_.size(), kLocalWrite | kRemoteWrite | kRemoteRead,
                                                {.only_for = &link_.queue_pair()});
    if (!board) return std::unexpected(to_failure("register memory", board.error()));
    board_region_.emplace(std::move(*board));
    auto counter = link_.register_memory(std::as_writable_bytes(std::span(&counter_, 1)), kLocalWrite | kRemoteAtomic);
    if (!counter) return std::unexpected(counter.error());
    counter_region_.emplace(std::move(*counter));
    return link_.post_receive(inbox_region_->sge());
  }

  Outcome<void> accept() {
    std::vector<std::byte> offer;
    for (const auto* region : {&*board_region_, &*counter_region_}) {
      const auto part =
          Advertisement{region->iova(), region->rkey(), static_cast<std::uint32_t>(region->length())}.serialize();
      offer.insert(offer.end(), part.begin(), part.end());
    }
    return link_.accept({.private_data = offer});
  }

  Outcome<void> play() {
    for (const Step step : {Step::kSend, Step::kWrite, Step::kAtomics, Step::kInvalidate}) {
      const auto message = next_message();
      if (!message) return std::unexpected(message.error());
      if (auto good = check(step, *message); !good) return good;
      if (auto posted = link_.post_receive(inbox_region_->sge()); !posted) return posted;
      if (auto answered = reply(step); !answered) return answered;
    }
    return link_.disconnect();  // waits for the client to close
  }

 private:
  Outcome<verbs::WorkCompletion> next_message() {
    for (;;) {
      auto completion = link_.completions().next();
      if (!completion) return completion;
      if (completion->status != verbs::WcStatus::kSuccess) return failure("server: " + describe(*completion) + ".");
      if (completion->opcode == verbs::WcOpcode::kReceive) return completion;
    }
  }

  Outcome<void> check(Step step, const verbs::WorkCompletion& message) {
    switch (step) {
      case Step::kSend: return compare("the Send", Bytes(inbox_).first(message.byte_len), kSendSize, kSendSeed);
      case Step::kWrite: return check_write();
      case Step::kAtomics: return check_counter();
      case Step::kInvalidate: return check_invalidation(message);
    }
    return {};
  }

  Outcome<void> check_write() {
    auto good = compare("the RDMA Write", board_, kBoardSize, kWriteSeed);
    fill_pattern(board_, kReadSeed);  // for the RDMA Read
    return good;
  }

  static Outcome<void> compare(const std::string& what, Bytes octets, std::size_t size, std::uint8_t seed) {
    if (octets.size() != size)
      return failure("server: " + what + " brought " + std::to_string(octets.size()) + " octets.");
    const auto at = first_difference(octets, seed);
    if (at) return failure("server: " + what + " brought a wrong octet at offset " + std::to_string(*at) + ".");
    return {};
  }

  Outcome<void> check_counter() {
    const std::uint64_t value = std::atomic_ref(counter_).load(std::memory_order_acquire);
    if (value == kSwappedIn) return {};
    return failure("server: after the atomics the counter is " + std::to_string(value) + ".");
  }

  Outcome<void> check_invalidation(const verbs::WorkCompletion& message) {
    if (message.with_invalidate && message.invalidated_rkey == board_region_->rkey()) return {};
    return failure("server: the Send with Invalidate did not name the board's STag.");
  }

  Outcome<void> reply(Step step) {
    const std::string_view text = answer(step);
    const verbs::Sge words{.address = reinterpret_cast<std::uint64_t>(text.data()),
                           .length = static_cast<std::uint32_t>(text.size())};
    return link_.post_send(
        {.opcode = verbs::SendOpcode::kSend, .flags = verbs::SendFlags::kInline, .segments = {&words, 1}});
  }

  std::vector<std::byte> inbox_;
  std::vector<std::byte> board_;
  alignas(8) std::uint64_t counter_ = kCounterStart;
  Link link_;  // after the memory that it uses
  std::optional<verbs::MemoryRegion> inbox_region_{};
  std::optional<verbs::MemoryRegion> board_region_{};
  std::optional<verbs::MemoryRegion> counter_region_{};
};

}  // namespace

Outcome<void> run_server(const verbs::Policy& policy, int channel) {
  const verbs::Endpoint anywhere{.address = verbs::Address::loopback(transport::Family::kIpv4), .port = 0};
  auto listener = Listener::open(anywhere, policy);
  if (!listener) return std::unexpected(listener.error());
  if (auto told = tell(channel, listener->local().port); !told) return told;
  auto event = listener->next_request();
  if (!event) return std::unexpected(event.error());
  auto link = Link::for_request(std::move(*event->request), {});
  if (!link) return std::unexpected(link.error());
  Server server(std::move(*link));
  auto done = server.share_memory();
  if (done) done = server.accept();
  if (done) done = server.play();
  return done;
}

}  // namespace weft::tools::demo
