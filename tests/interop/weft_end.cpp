// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/weft_end.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tests/interop/vm.hpp"

namespace weft::interop {
namespace {

using namespace std::chrono_literals;
using verbs::ConnectionEventType;

constexpr auto kPatience = 120s;
constexpr std::uint64_t kReceiveIds = 1000;  // wr_ids of receives begin here
constexpr verbs::Access kOpen = verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite | verbs::Access::kRemoteRead;

template <typename T>
T must(verbs::Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(std::string(what) + ": " + result.error().message());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

verbs::Endpoint local(std::uint16_t port) { return {verbs::Address::loopback(transport::Family::kIpv4), port}; }

// siw installs its receive callback after it has sent its Reply: what follows at once may lie unread (README.md).
constexpr auto kSiwGetsReady = 200ms;

using AddressField = Be<0, std::uint64_t>;
using StagField = Be<8, std::uint32_t>;
using LengthField = Be<12, std::uint32_t>;

Advert parse_advert(Bytes data) {
  if (data.size() < LengthField::end) throw std::runtime_error("the guest's private data names no buffer");
  Advert advert{AddressField::get(data), StagField::get(data), LengthField::get(data), {}};
  for (const std::byte b : data.subspan(LengthField::end)) advert.text += static_cast<char>(b);
  return advert;
}

bool is_crc_error(const verbs::StreamError& error) { return error.layer == 2 && error.type == 0 && error.code == 2; }

}  // namespace

std::byte our_pattern(std::size_t i) { return static_cast<std::byte>((i * 11 + (i >> 8) * 3 + (i >> 16) + 7) & 0xff); }
std::byte guest_pattern(std::size_t i) {
  return static_cast<std::byte>((i * 7 + (i >> 8) * 13 + (i >> 16) + 5) & 0xff);
}

std::string checksum(std::span<const std::byte> octets) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte b : octets) hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3;
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 0xf];
  return text;
}

std::vector<std::byte> octets_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

WeftEnd::WeftEnd(verbs::EventChannel channel, verbs::ConnectionId id, const EndSetup& setup)
    : setup_(setup),
      memory_(2 * kHalf),
      receive_memory_(std::size_t{setup.receives + 1} * setup.receive_length),
      channel_(std::move(channel)),
      id_(std::move(id)) {
  for (std::size_t i = 0; i < kHalf; ++i) memory_[i] = our_pattern(i);
  device_ = must(id_.device(), "device");
  domain_ = must(device_->allocate_protection_domain(), "allocate_protection_domain");
  completions_ = must(device_->create_completion_queue(), "create_completion_queue");
  queue_pair_ =
      must(domain_->create_queue_pair({.send_cq = &*completions_, .receive_cq = &*completions_, .signal_all = true}),
           "create_queue_pair");
  // For this stream alone, so that the guest may invalidate it.
  region_ = must(domain_->register_memory(memory_.data(), memory_.size(), kOpen, {.only_for = &*queue_pair_}),
                 "register_memory");
  receive_region_ =
      must(domain_->register_memory(receive_memory_.data(), receive_memory_.size(), verbs::Access::kLocalWrite),
           "register_memory");
  must(queue_pair_->modify(verbs::QpState::kInit), "modify");
  for (std::uint64_t i = 0; i < setup_.receives; ++i) post_receive(i);
}

WeftEnd WeftEnd::connect(std::uint16_t port, const EndSetup& setup) {
  auto channel = must(verbs::EventChannel::create(), "event channel");
  auto id = must(verbs::ConnectionId::create(channel), "connection id");
  verbs::Policy policy = setup.policy;
  policy.timeouts.first_fpdu_delay = Vm::instance().scaled(kSiwGetsReady);
  must(id.set_policy(policy), "set_policy");
  must(id.resolve_address(local(port)), "resolve_address");
  if (must(channel.get_event(kPatience), "get_event").type != ConnectionEventType::kAddressResolved) {
    throw std::runtime_error("127.0.0.1 could not be resolved");
  }
  WeftEnd end(std::move(channel), std::move(id), setup);
  must(end.id_.resolve_route(), "resolve_route");
  static_cast<void>(end.expect(ConnectionEventType::kRouteResolved));
  const auto data = end.private_data();
  must(end.id_.connect(*end.queue_pair_, {.private_data = data, .ird = setup.ird, .ord = setup.ord}), "connect");
  end.guest_ = parse_advert(end.expect(ConnectionEventType::kEstablished).private_data);
  return end;
}

WeftEnd WeftEnd::accept(verbs::EventChannel channel, verbs::ConnectionEvent request, const EndSetup& setup) {
  WeftEnd end(std::move(channel), std::move(*request.request), setup);
  must(end.id_.migrate(end.channel_), "migrate");
  end.guest_ = parse_advert(request.private_data);
  const auto data = end.private_data();
  must(end.id_.accept(*end.queue_pair_, {.private_data = data, .ird = setup.ird, .ord = setup.ord}), "accept");
  static_cast<void>(end.expect(ConnectionEventType::kEstablished));
  return end;
}

verbs::ConnectionEvent WeftEnd::expect(ConnectionEventType type) {
  auto event = must(channel_.get_event(kPatience), "get_event");
  if (event.type == type) return event;
  std::string text;
  for (const std::byte b : event.private_data) text += static_cast<char>(b);
  throw std::runtime_error("connection event " + std::string(to_string(event.type)) + " instead of " +
                           std::string(to_string(type)) + (event.error ? ": " + event.error->message() : "") + " '" +
                           text + "'");
}

std::vector<std::byte> WeftEnd::private_data() const {
  std::vector<std::byte> data(LengthField::end);
  AddressField::put(data, region_->iova());
  StagField::put(data, region_->rkey());
  LengthField::put(data, static_cast<std::uint32_t>(region_->length()));
  const auto text = octets_of(setup_.text);
  data.insert(data.end(), text.begin(), text.end());
  return data;
}

verbs::Negotiated WeftEnd::negotiated() const {
  const auto state = query();
  if (!state.negotiated) throw std::runtime_error("not connected");
  return *state.negotiated;
}

void WeftEnd::post_receive(std::uint64_t index) {
  const std::array segments{receive_region_->sge(index * setup_.receive_length, setup_.receive_length)};
  must(queue_pair_->post_receive({.wr_id = kReceiveIds + index, .segments = segments}), "post_receive");
}

verbs::WorkCompletion WeftEnd::perform(verbs::SendRequest request, const verbs::Sge& segment) {
  const std::array segments{segment};
  request.segments = segments;
  must(queue_pair_->post_send(request), "post_send");
  return next(sent_);
}

verbs::WorkCompletion WeftEnd::send(std::uint32_t length, bool solicited, std::optional<std::uint32_t> invalidate) {
  verbs::SendRequest request{.opcode = verbs::SendOpcode::kSend};
  if (solicited) request.flags = verbs::SendFlags::kSolicited;
  if (invalidate) {
    request.opcode = verbs::SendOpcode::kSendWithInvalidate;
    request.invalidate_rkey = *invalidate;
  }
  return perform(request, region_->sge(0, length));
}

verbs::WorkCompletion WeftEnd::write(std::uint32_t length, std::uint64_t offset) {
  return write_to(guest_.stag, guest_.address + offset, length);
}
verbs::WorkCompletion WeftEnd::write_to(std::uint32_t stag, std::uint64_t address, std::uint32_t length) {
  return perform({.opcode = verbs::SendOpcode::kRdmaWrite, .remote_address = address, .rkey = stag},
                 region_->sge(0, length));
}
verbs::WorkCompletion WeftEnd::read(std::uint32_t length, std::uint64_t offset) {
  return read_from(guest_.stag, guest_.address + offset, length);
}
verbs::WorkCompletion WeftEnd::read_from(std::uint32_t stag, std::uint64_t address, std::uint32_t length) {
  return perform({.opcode = verbs::SendOpcode::kRdmaRead, .remote_address = address, .rkey = stag},
                 region_->sge(kReadSink, length));
}

// Sorts what the completion queue brings until one for `queue` is there.
verbs::WorkCompletion WeftEnd::next(std::deque<verbs::WorkCompletion>& queue) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (queue.empty()) {
    std::array<verbs::WorkCompletion, 16> some{};
    const std::size_t n = must(completions_->poll(some), "poll");
    for (std::size_t i = 0; i < n; ++i) (some[i].wr_id >= kReceiveIds ? received_ : sent_).push_back(some[i]);
    if (n == 0 && std::chrono::steady_clock::now() > deadline) throw std::runtime_error("no completion for 120 s");
  }
  const auto first = queue.front();
  queue.pop_front();
  if (first.status != verbs::WcStatus::kSuccess) {
    const auto error = query().stream_error;
    if (!error || (error->remote && is_crc_error(*error))) throw SiwMisreadCrc();
    if (is_crc_error(*error)) throw SiwSentBadCrc();
  }
  return first;
}

Message WeftEnd::receive() {
  Message message{next(received_), {}};
  if (message.completion.status != verbs::WcStatus::kSuccess) return message;
  const std::uint64_t index = message.completion.wr_id - kReceiveIds;
  const auto octets = std::span(receive_memory_).subspan(index * setup_.receive_length, message.completion.byte_len);
  message.octets.assign(octets.begin(), octets.end());
  post_receive(index);
  return message;
}

std::optional<verbs::StreamError> WeftEnd::wait_disconnected() {
  static_cast<void>(expect(ConnectionEventType::kDisconnected));
  return query().stream_error;
}

void WeftEnd::disconnect() {
  must(id_.disconnect(), "disconnect");
  static_cast<void>(expect(ConnectionEventType::kDisconnected));
}

WeftServer::WeftServer(const verbs::Policy& policy)
    : channel_(must(verbs::EventChannel::create(), "event channel")),
      id_(must(verbs::ConnectionId::create(channel_), "connection id")) {
  must(id_.set_policy(policy), "set_policy");
  must(id_.bind_address(local(0)), "bind_address");
  must(id_.listen(), "listen");
}

verbs::ConnectionEvent WeftServer::next_request() {
  auto event = must(channel_.get_event(kPatience), "get_event");
  if (event.type != ConnectionEventType::kConnectRequest) {
    throw std::runtime_error("connection event " + std::string(to_string(event.type)) + " instead of a request");
  }
  return event;
}

WeftEnd WeftServer::accept(const EndSetup& setup) {
  auto request = next_request();
  auto channel = must(verbs::EventChannel::create(), "event channel");
  return WeftEnd::accept(std::move(channel), std::move(request), setup);
}

}  // namespace weft::interop
