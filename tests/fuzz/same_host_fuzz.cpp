// SPDX-License-Identifier: Apache-2.0
// The other process of a same-host connection: between the calls of a session it writes anything into the pages that both
// share, rings, and goes. The session never moves more than was asked for, believes no position that cannot be, and keeps
// a loss. The same peer at the two ends of rings alone, whose octets lie between red zones of AddressSanitizer.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/same_host/message.hpp"
#include "transport/same_host/session.hpp"

using namespace weft;
using namespace weft::transport;
using namespace weft::transport::same_host;

namespace {

constexpr std::size_t kOctets = Memory::kLeastRing;
using Status = IoResult::Status;

void demand(bool condition) {
  if (!condition) std::abort();
}

// What the input still says; zeros behind its end.
struct Input {
  std::span<const std::uint8_t> rest;

  std::uint64_t take(std::size_t octets) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < octets; ++i, rest = rest.subspan(rest.empty() ? 0 : 1)) {
      value = value << 8 | (rest.empty() ? 0 : rest.front());
    }
    return value;
  }
};

// Writes any value into any word, near what is there or far from it, or one octet of the ring.
void scribble(const Ring& ring, Input& input) {
  const auto what = input.take(1);
  auto& position = (what & 1) != 0 ? ring.header->written : ring.header->read;
  switch (what >> 1 & 7) {
    case 0: position = input.take(8); break;
    case 1: position += input.take(2); break;
    case 2: position -= input.take(2); break;
    case 3: position ^= RingHeader::kEnd; break;
    case 4: ring.header->sleeps = static_cast<std::uint32_t>(input.take(4)); break;
    case 5: ring.header->waits = static_cast<std::uint32_t>(input.take(4)); break;
    default: ring.data[input.take(2) % ring.size] = static_cast<std::byte>(what);
  }
}

std::vector<std::byte> piece(Input& input) { return std::vector<std::byte>(input.take(2) % (2 * kOctets)); }

struct SessionTarget {
  std::optional<Memory> pages;
  std::optional<Session> session;
  Socket peer;
  bool lost = false;

  SessionTarget() {
    auto made = Memory::create(kOctets);
    std::array<int, 2> ends{};
    demand(made && ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    auto mapped = Memory::map(made->second, kOctets);
    demand(mapped.has_value());
    ::close(made->second);
    pages.emplace(std::move(*mapped));
    session.emplace(std::move(made->first), Socket::own(ends[0]), Memory::From::kInitiator);
    peer = Socket::own(ends[1]);
  }

  void check(const IoResult& result, std::size_t wanted) {
    demand(result.octets <= wanted && (result.status == Status::kMoved || result.octets == 0));
    demand((result.status == Status::kLost) == static_cast<bool>(result.error));
    if (lost) demand(result.status == Status::kLost);
    lost =
        lost || (result.status == Status::kLost && result.error != std::errc::broken_pipe);  // which ends writes alone
  }

  void act(Input& input) {
    const auto verb = input.take(1);
    const Ring ring = pages->ring((verb & 128) != 0 ? Memory::From::kInitiator : Memory::From::kAcceptor);
    switch (verb & 15) {
      case 0: {
        auto first = piece(input), second = piece(input);
        return check(session->read(first, second), first.size() + second.size());
      }
      case 1: {
        const auto first = piece(input), second = piece(input);
        return check(session->write(std::array{Bytes(first), Bytes(second)}), first.size() + second.size());
      }
      case 2:
        if (lost) return demand(!session->sleep());
        if (session->sleep()) return;
        return demand(pages->ring(Memory::From::kAcceptor).header->sleeps == 1);
      case 3: return session->awake();
      case 4: return session->shutdown_write();
      case 5: return demand(session->unread_by_peer() <= kOctets);
      case 6: {
        const auto bells = piece(input);
        static_cast<void>(peer.is_open() && peer.write(std::array{Bytes(bells)}).octets != 0);
        return;
      }
      case 7: return peer.close();
      default: return scribble(ring, input);
    }
  }
};

struct RingTarget {
  std::unique_ptr<RingHeader> header = std::make_unique<RingHeader>();
  std::unique_ptr<std::byte[]> data = std::make_unique<std::byte[]>(kOctets);
  Ring ring{.header = header.get(), .data = data.get(), .size = kOctets};
  RingReader reader{ring};
  RingWriter writer{ring};

  void act(Input& input) {
    const auto verb = input.take(1);
    if ((verb & 3) == 0) {
      auto first = piece(input), second = piece(input);
      demand(reader.read(first, second).octets <= first.size() + second.size());
    } else if ((verb & 3) == 1) {
      const auto first = piece(input), second = piece(input);
      const auto result = writer.write(std::array{Bytes(first), Bytes(second)});
      demand(result.octets <= first.size() + second.size() && writer.unread() <= kOctets);
    } else {
      scribble(ring, input);
    }
  }
};

void message(Input& input) {
  const auto parsed = parse_message(std::as_bytes(input.rest));
  if (parsed) demand(parse_message(serialize(*parsed)) == *parsed);
}

}  // namespace

// The first octet selects what is tried: a session, rings alone, or the message of an offer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2000) return 0;
  Input input{std::span(data, size)};
  const auto target = input.take(1) % 3;
  if (target == 2) {
    message(input);
  } else if (target == 1) {
    for (RingTarget rings; !input.rest.empty();) rings.act(input);
  } else {
    for (SessionTarget session; !input.rest.empty();) session.act(input);
  }
  return 0;
}
