// SPDX-License-Identifier: Apache-2.0
#include "nfs3.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nfs {

namespace {

constexpr std::uint32_t kMountProgram = 100005;
constexpr std::uint32_t kNfsProgram = 100003;
constexpr std::uint32_t kVersion = 3;  // of both
constexpr std::uint32_t kMnt = 1;
enum Procedure : std::uint32_t {
  kLookup = 3,
  kRead = 6,
  kWrite = 7,
  kCreate = 8,
  kRemove = 12,
  kReadDirPlus = 17,
  kCommit = 21
};
constexpr std::size_t kLongestHandle = 64;
constexpr std::size_t kLongestName = 255;

// nfsstat3 and mountstat3 have the numbers of errno.
void expect_ok(std::uint32_t status, const std::string& what) {
  if (status == 0) return;
  const bool known = status < 10'000;
  throw Failure(what + ": " + (known ? std::strerror(static_cast<int>(status)) : "nfsstat3 " + std::to_string(status)));
}

FileHandle handle(Decoder& in) {
  const auto octets = in.opaque(kLongestHandle);
  return {octets.begin(), octets.end()};
}

// post_op_attr: the size of the file, if the server says it.
std::uint64_t attributes(Decoder& in) {
  if (!in.boolean()) return 0;
  static_cast<void>(in.take(20));  // type, mode, nlink, uid, gid
  const std::uint64_t size = in.u64();
  static_cast<void>(in.take(56));
  return size;
}

void skip_wcc_data(Decoder& in) {
  if (in.boolean()) static_cast<void>(in.take(24));
  static_cast<void>(attributes(in));
}

// --- The mount daemon

class Socket {
 public:
  Socket(const weft::Endpoint& to, std::chrono::milliseconds patience) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found) != 0) {
      throw Failure(to.host + ": unknown host");
    }
    descriptor_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{.tv_sec = patience.count() / 1000, .tv_usec = patience.count() % 1000 * 1000};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    const int connected = ::connect(descriptor_, found->ai_addr, found->ai_addrlen);
    ::freeaddrinfo(found);
    if (connected != 0) {
      const int error = errno;
      ::close(descriptor_);
      throw Failure("mount daemon: " + std::string(std::strerror(error)));
    }
  }
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void send(std::span<const std::byte> octets) const {
    if (::send(descriptor_, octets.data(), octets.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(octets.size())) {
      throw Failure("mount daemon: the call could not be sent");
    }
  }
  void receive(std::span<std::byte> into) const {
    if (::recv(descriptor_, into.data(), into.size(), MSG_WAITALL) != static_cast<ssize_t>(into.size())) {
      throw Failure("mount daemon: no reply");
    }
  }

 private:
  int descriptor_ = -1;
};

// A record has its length in front, and the highest bit says that it is the last fragment (RFC 5531 section 11).
constexpr std::uint32_t kLastFragment = 1U << 31;

Octets receive_record(const Socket& from) {
  constexpr std::size_t kLongest = 65536;
  std::array<std::byte, 4> mark{};
  from.receive(mark);
  const std::uint32_t length = Decoder(mark).u32();
  if ((length & kLastFragment) == 0 || (length ^ kLastFragment) > kLongest) {
    throw Failure("mount daemon: the reply is too long");
  }
  Octets record(length ^ kLastFragment);
  from.receive(record);
  return record;
}

}  // namespace

FileHandle mount(const weft::Endpoint& daemon, const std::string& directory, std::chrono::milliseconds patience) {
  const Socket socket(daemon, patience);
  const std::uint32_t xid = first_xid();
  const Octets call = rpc_call(xid, kMountProgram, kVersion, kMnt, Encoder().text(directory).octets());
  socket.send(Encoder().u32(static_cast<std::uint32_t>(call.size()) | kLastFragment).append(call).octets());
  const Octets record = receive_record(socket);
  Decoder reply(record);
  expect_accepted(reply, xid);
  expect_ok(reply.u32(), directory);
  return handle(reply);
}

// --- NFS

Client::Client(Channel& channel, FileHandle directory)
    : channel_(channel),
      directory_(std::move(directory)),
      data_region_(
          channel.share(data_, weft::Access::kLocalWrite | weft::Access::kRemoteRead | weft::Access::kRemoteWrite)) {}

Channel::Reply Client::call(std::uint32_t procedure, const Encoder& arguments, const Channel::Call& how) {
  Channel::Call call = how;
  call.program = kNfsProgram;
  call.version = kVersion;
  call.procedure = procedure;
  call.arguments = arguments.octets();
  return channel_.call(call);
}

FileHandle Client::look_up(const std::string& name) {
  const auto reply = call(kLookup, Encoder().opaque(directory_).text(name));
  Decoder in(reply.results);
  expect_ok(in.u32(), name);
  return handle(in);
}

FileHandle Client::create(const std::string& name) {
  constexpr std::uint32_t kUnchecked = 0;
  Encoder arguments;
  arguments.opaque(directory_).text(name).u32(kUnchecked);
  arguments.u32(1).u32(0644).u32(0).u32(0).u32(1).u64(0).u32(0).u32(0);  // mode and size are set
  const auto reply = call(kCreate, arguments);
  Decoder in(reply.results);
  expect_ok(in.u32(), name);
  return in.boolean() ? handle(in) : look_up(name);
}

std::vector<Client::Entry> Client::list() {
  constexpr std::uint32_t kNames = 8192;  // octets of names alone, and of the whole reply
  constexpr std::uint32_t kWhole = 32768;
  std::vector<Entry> all;
  std::uint64_t cookie = 0;
  Octets verifier(8);
  for (bool end = false; !end;) {
    const auto reply =
        call(kReadDirPlus, Encoder().opaque(directory_).u64(cookie).append(verifier).u32(kNames).u32(kWhole),
             {.long_reply = true});
    Decoder in(reply.results);
    expect_ok(in.u32(), "list");
    static_cast<void>(attributes(in));
    std::ranges::copy(in.take(verifier.size()), verifier.begin());
    const std::uint64_t before = cookie;
    while (in.boolean()) {
      in.u64();  // the file's number
      std::string name = in.text(kLongestName);
      cookie = in.u64();
      const std::uint64_t size = attributes(in);
      if (in.boolean()) static_cast<void>(handle(in));
      if (name != "." && name != "..") all.push_back({std::move(name), size});
    }
    end = in.boolean();
    if (!end && cookie == before) throw Failure("list: the server makes no progress");
  }
  return all;
}

void Client::read(const std::string& name, const std::function<void(std::span<const std::byte>)>& take) {
  const FileHandle file = look_up(name);
  std::uint64_t offset = 0;
  for (bool end = false; !end;) {
    const auto reply =
        call(kRead, Encoder().opaque(file).u64(offset).u32(kSlice), {.write_chunk = data_region_.remote()});
    Decoder in(reply.results);
    expect_ok(in.u32(), name);
    static_cast<void>(attributes(in));
    const std::uint32_t count = in.u32();
    end = in.boolean();
    if (in.u32() != count || count > kSlice || count != reply.written) {
      throw Failure(name + ": the reply contradicts the write chunk");
    }
    if (count == 0 && !end) throw Failure(name + ": the server makes no progress");
    take(std::span(data_).first(count));
    offset += count;
  }
}

// What is written UNSTABLE is safe after a COMMIT with the same verifier: a server that has restarted has another one.
void Client::write(const std::string& name, const std::function<std::size_t(std::span<std::byte>)>& give) {
  constexpr std::uint32_t kUnstable = 0;
  const FileHandle file = create(name);
  std::uint64_t offset = 0;
  Octets verifier;
  const auto check = [&](Decoder& in) {
    const auto octets = in.take(8);
    if (!verifier.empty() && !std::ranges::equal(verifier, octets)) {
      throw Failure(name + ": the server has restarted, and may have lost what was written");
    }
    verifier.assign(octets.begin(), octets.end());
  };
  while (const std::size_t given = give(data_)) {
    const auto count = static_cast<std::uint32_t>(given);
    weft::RemoteRegion chunk = data_region_.remote();
    chunk.length = count;
    const auto reply =
        call(kWrite, Encoder().opaque(file).u64(offset).u32(count).u32(kUnstable).u32(count), {.read_chunk = chunk});
    Decoder in(reply.results);
    expect_ok(in.u32(), name);
    skip_wcc_data(in);
    if (in.u32() != count) throw Failure(name + ": the server has written less than it was given");
    in.u32();
    check(in);
    offset += count;
  }
  const auto reply = call(kCommit, Encoder().opaque(file).u64(0).u32(0));
  Decoder in(reply.results);
  expect_ok(in.u32(), name);
  skip_wcc_data(in);
  check(in);
}

void Client::remove(const std::string& name) {
  const auto reply = call(kRemove, Encoder().opaque(directory_).text(name));
  Decoder in(reply.results);
  expect_ok(in.u32(), name);
}

}  // namespace nfs
