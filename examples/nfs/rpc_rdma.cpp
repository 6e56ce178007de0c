// SPDX-License-Identifier: Apache-2.0
#include "rpc_rdma.hpp"

#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include <weft/verbs/verbs.hpp>

namespace nfs {

namespace {

constexpr std::uint64_t kSent = 1'000;  // a wr_id; receives have the number of their slot
constexpr std::uint32_t kProtocol = 1;  // RPC-over-RDMA version 1
enum MessageType : std::uint32_t { kRdmaMsg = 0, kRdmaNoMsg = 1, kRdmaError = 4 };

// RFC 8797: magic, version 1, flags 0 (the server is not to invalidate our STags), 4096 octets of Sends both ways.
constexpr std::array<std::byte, 8> kPrivateData{std::byte{0xf6}, std::byte{0xab}, std::byte{0x0e}, std::byte{0x18},
                                                std::byte{1},    std::byte{0},    std::byte{3},    std::byte{3}};

// Returns the value of a weft::Result or weft::verbs::Result.
template <typename Result>
Result::value_type value_of(Result result, const char* what) {
  if (!result) throw Failure(std::string(what) + ": " + std::string(result.error().message()));
  if constexpr (!std::is_void_v<typename Result::value_type>) return std::move(*result);
}

void put_segment(Encoder& out, const weft::RemoteRegion& memory) {
  out.u32(memory.rkey).u32(memory.length).u64(memory.address);
}

// The server repeats the segment that it was offered, with the length that it used.
std::uint32_t used(Decoder& in, const std::optional<weft::RemoteRegion>& offered, const char* chunk) {
  if (in.u32() != 1 || !offered) throw Failure(std::string(chunk) + ": the server names memory that was not offered");
  const std::uint32_t rkey = in.u32();
  const std::uint32_t length = in.u32();
  const std::uint64_t address = in.u64();
  if (rkey != offered->rkey || address != offered->address || length > offered->length) {
    throw Failure(std::string(chunk) + ": the server names memory that was not offered");
  }
  return length;
}

}  // namespace

// --- RPC

std::uint32_t first_xid() { return std::random_device{}(); }

Octets rpc_call(std::uint32_t xid, std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
                std::span<const std::byte> arguments) {
  constexpr std::uint32_t kCall = 0;
  constexpr std::uint32_t kRpcVersion = 2;
  constexpr std::uint32_t kAuthSys = 1;
  Encoder credentials;
  credentials.u32(0).text("weft").u32(::geteuid()).u32(::getegid()).u32(0);
  Encoder message;
  message.u32(xid).u32(kCall).u32(kRpcVersion).u32(program).u32(version).u32(procedure);
  message.u32(kAuthSys).opaque(credentials.octets()).u32(0).u32(0).append(arguments);
  return message.octets();
}

void expect_accepted(Decoder& reply, std::uint32_t xid) {
  constexpr std::uint32_t kReply = 1;
  constexpr std::size_t kLongestVerifier = 400;
  if (reply.u32() != xid) throw Failure("the server replies to another call");
  if (reply.u32() != kReply) throw Failure("the server sends no reply");
  if (reply.u32() != 0) throw Failure("the server denies the call: it wants another RPC version or other credentials");
  reply.u32();
  static_cast<void>(reply.opaque(kLongestVerifier));
  if (const std::uint32_t status = reply.u32(); status != 0) {
    throw Failure("the server does not execute the call: accept_stat " + std::to_string(status));
  }
}

// --- RPC-over-RDMA

Channel::Channel(const weft::Endpoint& server, std::chrono::milliseconds patience, std::chrono::milliseconds pause,
                 bool crc)
    : patience_(patience),
      connection_(value_of(weft::Connection::prepare(server), "connect")),
      outgoing_region_(value_of(connection_.register_memory(outgoing_), "memory")),
      incoming_region_(value_of(connection_.register_memory(incoming_), "memory")),
      long_reply_region_(value_of(
          connection_.register_memory(long_reply_, weft::Access::kLocalWrite | weft::Access::kRemoteWrite), "memory")) {
  auto policy = connection_.id().policy();
  policy.startup.crc = crc;
  value_of(connection_.id().set_policy(policy), "policy");
  for (std::size_t slot = 0; slot < kReceives; ++slot) post_receive(slot);
  value_of(connection_.establish(patience_, kPrivateData), "connect");
  std::this_thread::sleep_for(pause);
}

weft::Region Channel::share(std::span<std::byte> memory, weft::Access access) {
  return value_of(connection_.register_memory(memory, access), "memory");
}

void Channel::post_receive(std::size_t slot) {
  const auto into = value_of(incoming_region_.subspan(slot * kInline, kInline), "receive");
  value_of(connection_.receive(into, weft::Post{.wr_id = slot}), "receive");
}

Octets Channel::header_of(const Call& call) const {
  const Octets rpc = rpc_call(xid_, call.program, call.version, call.procedure, call.arguments);
  Encoder out;
  out.u32(xid_).u32(kProtocol).u32(kReceives).u32(kRdmaMsg);
  if (call.read_chunk) {
    out.u32(1).u32(static_cast<std::uint32_t>(rpc.size()));  // the position of its octets in the message
    put_segment(out, *call.read_chunk);
  }
  out.u32(0);
  if (call.write_chunk) {
    out.u32(1).u32(1);
    put_segment(out, *call.write_chunk);
  }
  out.u32(0).u32(call.long_reply ? 1 : 0);
  if (call.long_reply) {
    out.u32(1);
    put_segment(out, long_reply_region_.remote());
  }
  return out.append(rpc).octets();
}

Channel::Reply Channel::call(const Call& call) {
  ++xid_;
  const Octets message = header_of(call);
  if (message.size() > kInline) throw Failure("the call is too long");
  std::ranges::copy(message, outgoing_.begin());
  const auto [slot, size] = exchange(message.size());
  Reply reply = parse(call, std::span(incoming_).subspan(slot * kInline, size));
  post_receive(slot);
  return reply;
}

// Both completions: a Send's memory is ours again only then.
Channel::Message Channel::exchange(std::size_t size) {
  value_of(connection_.send(value_of(outgoing_region_.subspan(0, size), "send"), weft::Post{.wr_id = kSent}), "send");
  const weft::Deadline deadline(patience_);
  std::optional<Message> received;
  for (bool sent = false; !sent || !received;) {
    std::array<weft::verbs::WorkCompletion, 1> done;
    value_of(connection_.completions(done, deadline), "no reply of the server");
    const weft::verbs::WorkCompletion& one = done[0];
    if (one.status != weft::verbs::WcStatus::kSuccess) throw Failure(std::string(connection_.why(one).message()));
    if (one.wr_id == kSent) {
      sent = true;
    } else if (received) {
      throw Failure("the server sends more than one reply");
    } else {
      received = Message{.slot = static_cast<std::size_t>(one.wr_id), .size = one.byte_len};
    }
  }
  return *received;
}

Channel::Reply Channel::parse(const Call& call, std::span<const std::byte> message) const {
  Decoder in(message);
  if (in.u32() != xid_) throw Failure("the server replies to another call");
  if (in.u32() != kProtocol) throw Failure("the server has another version of RPC-over-RDMA");
  in.u32();  // credits: one call at a time needs one
  const std::uint32_t type = in.u32();
  if (type == kRdmaError) throw Failure("the server refuses the chunks: RDMA_ERROR " + std::to_string(in.u32()));
  if (type != kRdmaMsg && type != kRdmaNoMsg) throw Failure("the server sends no reply");
  if (in.boolean()) throw Failure("the server's reply has a read list");
  Reply reply;
  if (in.boolean()) {
    reply.written = used(in, call.write_chunk, "write chunk");
    if (in.boolean()) throw Failure("write chunk: the server names memory that was not offered");
  }
  std::uint32_t in_chunk = 0;
  if (in.boolean()) {
    in_chunk = used(in, call.long_reply ? std::optional(long_reply_region_.remote()) : std::nullopt, "reply chunk");
  }
  Decoder rpc = type == kRdmaNoMsg ? Decoder(std::span(long_reply_).first(in_chunk)) : in;
  expect_accepted(rpc, xid_);
  reply.results.assign(rpc.left().begin(), rpc.left().end());
  return reply;
}

}  // namespace nfs
