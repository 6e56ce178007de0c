// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/client.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/pattern.hpp"
#include "tools/demo/script.hpp"
#include "tools/link/advertisement.hpp"
#include "tools/link/link.hpp"

namespace weft::tools::demo {
namespace {

class Client {
 public:
  explicit Client(Link link) : buffer_(kBoardSize), inbox_(kMaxAnswer), link_(std::move(link)) {}

  Outcome<void> connect() {
    auto buffer = link_.register_memory(buffer_, verbs::Access::kLocalWrite);
    if (!buffer) return std::unexpected(buffer.error());
    buffer_region_.emplace(std::move(*buffer));
    auto inbox = link_.register_memory(inbox_, verbs::Access::kLocalWrite);
    if (!inbox) return std::unexpected(inbox.error());
    inbox_region_.emplace(std::move(*inbox));
    if (auto posted = link_.post_receive(inbox_region_->sge()); !posted) return posted;
    const auto offer = link_.connect({.private_data = std::as_bytes(std::span("weft demo", 9))});
    if (!offer) return std::unexpected(offer.error());
    tell_protection();
    if (offer->size() != 2 * kAdvertisementSize)
      return failure("the server's private data is not what the demo expects.");
    board_ = *Advertisement::parse(Bytes(*offer).first(kAdvertisementSize));
    counter_ = *Advertisement::parse(Bytes(*offer).last(kAdvertisementSize));
    return {};
  }

  Outcome<Score> play() {
    for (const auto part : {&Client::send, &Client::write, &Client::read, &Client::atomics, &Client::invalidate}) {
      if (auto done = (this->*part)(); !done) return std::unexpected(done.error());
    }
    if (auto closed = link_.disconnect(); !closed) return std::unexpected(closed.error());
    return score_;
  }

 private:
  // Without TLS there is nothing to tell.
  void tell_protection() {
    const auto peer = link_.id().peer_identity();
    if (!peer) return;
    std::printf("  %-22s ok   %s; the peer is %s\n", "TLS 1.3", peer->cipher.c_str(), peer->subject.c_str());
  }

  Outcome<void> send() {
    fill_pattern(MutableBytes(buffer_).first(kSendSize), kSendSeed);
    if (auto posted = post({.opcode = verbs::SendOpcode::kSend}, kSendSize); !posted) return posted;
    if (auto answered = await_answer(Step::kSend); !answered) return answered;
    return good("Send", kSendSize, "4000 octets to the server, which compared them");
  }

  Outcome<void> write() {
    fill_pattern(buffer_, kWriteSeed);
    auto done = post({.opcode = verbs::SendOpcode::kRdmaWrite, .remote_address = board_.address, .rkey = board_.rkey},
                     kBoardSize);
    if (done) done = ask(Step::kWrite, {.opcode = verbs::SendOpcode::kSend});
    if (!done) return done;
    return good("RDMA Write", kBoardSize, "65536 octets into the server's memory, which it compared");
  }

  Outcome<void> read() {
    std::fill(buffer_.begin(), buffer_.end(), std::byte{0});
    auto done = post_and_wait(
        {.opcode = verbs::SendOpcode::kRdmaRead, .remote_address = board_.address, .rkey = board_.rkey}, kBoardSize);
    if (!done) return done;
    if (const auto at = first_difference(buffer_, kReadSeed)) {
      return failure("the RDMA Read brought a wrong octet at offset " + std::to_string(*at) + ".");
    }
    return good("RDMA Read", kBoardSize, "65536 octets out of the server's memory, compared here");
  }

  Outcome<void> atomics() {
    auto done = fetch_add(kAdded, kCounterStart);
    if (done) done = good("FetchAdd", 8, "1000 + 42, and the old value came back");
    if (done) done = compare_swap(kCounterStart + kAdded, kSwappedIn, kCounterStart + kAdded);
    if (done) done = compare_swap(kCounterStart, 1, kSwappedIn);  // compares unequal: must change nothing
    if (done) done = ask(Step::kAtomics, {.opcode = verbs::SendOpcode::kSend});
    if (!done) return done;
    return good("CmpSwap", 16, "one that matched and swapped, one that did not and changed nothing");
  }

  Outcome<void> invalidate() {
    auto done =
        ask(Step::kInvalidate, {.opcode = verbs::SendOpcode::kSendWithInvalidate, .invalidate_rkey = board_.rkey});
    if (!done) return done;
    return good("Send with Invalidate", 0, "the server's STag is gone, as its completion says");
  }

  Outcome<void> fetch_add(std::uint64_t add, std::uint64_t expected) {
    return atomic({.opcode = verbs::SendOpcode::kFetchAndAdd, .swap_or_add = add}, expected);
  }

  Outcome<void> compare_swap(std::uint64_t compare, std::uint64_t swap, std::uint64_t expected) {
    return atomic({.opcode = verbs::SendOpcode::kCompareAndSwap, .compare = compare, .swap_or_add = swap}, expected);
  }

  Outcome<void> atomic(verbs::SendRequest request, std::uint64_t expected) {
    request.remote_address = counter_.address;
    request.rkey = counter_.rkey;
    if (auto done = post_and_wait(request, sizeof expected); !done) return done;
    std::uint64_t old = 0;
    std::memcpy(&old, buffer_.data(), sizeof old);
    if (old == expected) return {};
    return failure("an atomic returned " + std::to_string(old) + " instead of " + std::to_string(expected) + ".");
  }

  // Posts one work request on the first `length` octets of the buffer.
  Outcome<void> post(verbs::SendRequest request, std::uint32_t length) {
    const verbs::Sge segment = buffer_region_->sge(0, length);
    request.segments = {&segment, 1};
    request.flags = request.flags | verbs::SendFlags::kSignaled;
    return link_.post_send(request);
  }

  Outcome<void> post_and_wait(const verbs::SendRequest& request, std::uint32_t length) {
    const auto awaited = request.opcode == verbs::SendOpcode::kRdmaRead      ? verbs::WcOpcode::kRdmaRead
                         : request.opcode == verbs::SendOpcode::kFetchAndAdd ? verbs::WcOpcode::kFetchAndAdd
                                                                             : verbs::WcOpcode::kCompareAndSwap;
    if (auto posted = post(request, length); !posted) return posted;
    if (auto came = await(awaited); !came) return std::unexpected(came.error());
    return {};
  }

  // Sends the question, inline since the buffer may still be in use, and waits for the server's answer.
  Outcome<void> ask(Step step, verbs::SendRequest request) {
    const verbs::Sge words{.address = reinterpret_cast<std::uint64_t>(kQuestion.data()), .length = kQuestion.size()};
    request.segments = {&words, 1};
    request.flags = verbs::SendFlags::kSignaled | verbs::SendFlags::kInline;
    if (auto posted = link_.post_send(request); !posted) return posted;
    return await_answer(step);
  }

  Outcome<void> await_answer(Step step) {
    const auto came = await(verbs::WcOpcode::kReceive);
    if (!came) return std::unexpected(came.error());
    if (!std::ranges::equal(Bytes(inbox_).first(came->byte_len), std::as_bytes(std::span(answer(step)))))
      return failure("the server's answer belongs to another step.");
    return link_.post_receive(inbox_region_->sge());
  }

  Outcome<verbs::WorkCompletion> await(verbs::WcOpcode opcode) {
    for (;;) {
      auto completion = link_.completions().next();
      if (!completion) return completion;
      if (completion->status != verbs::WcStatus::kSuccess) return failure(describe(*completion) + ".");
      if (completion->opcode == opcode) return completion;
    }
  }

  Outcome<void> good(const char* operation, std::uint64_t octets, const char* text) {
    score_.operations += 1;
    score_.octets += octets;
    std::printf("  %-22s ok   %s\n", operation, text);
    return {};
  }

  std::vector<std::byte> buffer_;  // source and sink of everything
  std::vector<std::byte> inbox_;
  Link link_;  // after the memory that it uses
  std::optional<verbs::MemoryRegion> buffer_region_{};
  std::optional<verbs::MemoryRegion> inbox_region_{};
  Advertisement board_{};
  Advertisement counter_{};
  Score score_{};
};

}  // namespace

Outcome<Score> run_client(const verbs::Policy& policy, std::uint16_t port) {
  const verbs::Endpoint server{.address = verbs::Address::loopback(transport::Family::kIpv4), .port = port};
  auto link = Link::towards(server, {}, policy, {});
  if (!link) return std::unexpected(link.error());
  Client client(std::move(*link));
  if (auto connected = client.connect(); !connected) return std::unexpected(connected.error());
  return client.play();
}

}  // namespace weft::tools::demo
