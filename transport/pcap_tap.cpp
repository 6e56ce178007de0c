// SPDX-License-Identifier: Apache-2.0
#include "transport/pcap_tap.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "transport/detail/packet.hpp"
#include "transport/detail/pcap_file.hpp"

namespace weft::transport {

namespace detail {
namespace {

constexpr std::uint16_t kWindow = 0xffff;  // scaled by 2^7, as the SYNs say: nearly 8 MiB
constexpr std::uint8_t kWindowScale = 7;
constexpr std::size_t kAcknowledgeAfter = 1 << 20;  // well inside the window, which readers watch

// TCP options of a SYN: maximum segment size, no-operation, window scale (RFC 9293 section 3.2, RFC 7323 section 2.2).
std::array<std::byte, 8> syn_options(std::size_t mss) {
  return {
      std::byte{2}, std::byte{4}, static_cast<std::byte>(mss >> 8), static_cast<std::byte>(mss & 0xff), std::byte{1},
      std::byte{3}, std::byte{3}, std::byte{kWindowScale}};
}

}  // namespace

// One end of a conversation.
struct PcapSide {
  Endpoint endpoint{};
  std::uint32_t next_sequence{};
  std::size_t unacknowledged = 0;  // octets since the other end last sent anything
  bool over = false;               // has sent FIN or RST
};

struct PcapConversation {
  std::shared_ptr<PcapFile> file;
  std::size_t mss{};
  PcapSide local{};
  PcapSide remote{};

  void emit(PcapSide& from, PcapSide& to, std::uint8_t flags, PieceReader& payload, std::size_t octets,
            Bytes options = {}) {
    const bool acknowledges = (flags & tcp_flag::kAck) != 0;
    file->write({.source = from.endpoint,
                 .destination = to.endpoint,
                 .sequence = from.next_sequence,
                 .acknowledgement = acknowledges ? to.next_sequence : 0,
                 .flags = flags,
                 .window = kWindow,
                 .options = options},
                payload, octets);
    // SYN and FIN count as one octet each (RFC 9293 section 3.4).
    const bool counted = (flags & (tcp_flag::kSyn | tcp_flag::kFin)) != 0;
    from.next_sequence += static_cast<std::uint32_t>(octets + (counted ? 1 : 0));
    from.unacknowledged += octets;
    if (acknowledges) to.unacknowledged = 0;
  }

  void emit_bare(PcapSide& from, PcapSide& to, std::uint8_t flags, Bytes options = {}) {
    PieceReader nothing({});
    emit(from, to, flags, nothing, 0, options);
  }

  void handshake(PcapSide& opener, PcapSide& answerer) {
    const auto options = syn_options(mss);
    emit_bare(opener, answerer, tcp_flag::kSyn, options);
    emit_bare(answerer, opener, tcp_flag::kSyn | tcp_flag::kAck, options);
    emit_bare(opener, answerer, tcp_flag::kAck);
  }

  void data(PcapSide& from, PcapSide& to, std::span<const Bytes> pieces) {
    const auto lock = file->lock();
    if (from.over) return;
    PieceReader payload(pieces);
    for (std::size_t left = payload.left(); left > 0;) {
      const std::size_t octets = std::min(left, mss);
      left -= octets;
      emit(from, to, left == 0 ? tcp_flag::kPsh | tcp_flag::kAck : tcp_flag::kAck, payload, octets);
      if (from.unacknowledged >= kAcknowledgeAfter && !to.over) emit_bare(to, from, tcp_flag::kAck);
    }
  }

  void fin(PcapSide& from, PcapSide& to) {
    const auto lock = file->lock();
    if (std::exchange(from.over, true)) return;
    emit_bare(from, to, tcp_flag::kFin | tcp_flag::kAck);
    emit_bare(to, from, tcp_flag::kAck);
  }

  // Ends both directions; may follow the sender's own FIN, but nothing follows a RST.
  void rst(PcapSide& from, PcapSide& to) {
    const auto lock = file->lock();
    if (from.over && to.over) return;
    emit_bare(from, to, tcp_flag::kRst | tcp_flag::kAck);
    from.over = true;
    to.over = true;
  }
};

}  // namespace detail

PcapTap::PcapTap(std::shared_ptr<detail::PcapFile> file) noexcept : file_(std::move(file)) {}
PcapTap::~PcapTap() = default;
PcapTap::PcapTap(PcapTap&&) noexcept = default;
PcapTap& PcapTap::operator=(PcapTap&&) noexcept = default;

std::expected<PcapTap, PcapError> PcapTap::create(const std::string& path, OnFailure on_failure) {
  auto file = detail::PcapFile::create(path, std::move(on_failure));
  if (!file) return std::unexpected(file.error());
  return PcapTap(std::move(*file));
}

PcapStream PcapTap::open(const Endpoint& local, const Endpoint& remote, Opener opener, std::size_t mss) {
  auto conversation = std::make_unique<detail::PcapConversation>();
  conversation->file = file_;
  conversation->mss = mss == 0 ? kMaxSegment : std::min(mss, kMaxSegment);
  const auto lock = file_->lock();
  conversation->local = {.endpoint = local, .next_sequence = file_->next_initial_sequence()};
  conversation->remote = {.endpoint = remote, .next_sequence = file_->next_initial_sequence()};
  const bool ours = opener == Opener::kLocal;
  conversation->handshake(ours ? conversation->local : conversation->remote,
                          ours ? conversation->remote : conversation->local);
  return PcapStream(std::move(conversation));
}

PcapStream::PcapStream(std::unique_ptr<detail::PcapConversation> conversation) noexcept
    : conversation_(std::move(conversation)) {}
PcapStream::PcapStream() noexcept = default;
PcapStream::~PcapStream() = default;
PcapStream::PcapStream(PcapStream&&) noexcept = default;
PcapStream& PcapStream::operator=(PcapStream&&) noexcept = default;

void PcapStream::sent(std::span<const Bytes> pieces) {
  if (conversation_) conversation_->data(conversation_->local, conversation_->remote, pieces);
}

void PcapStream::received(Bytes octets) {
  if (conversation_) conversation_->data(conversation_->remote, conversation_->local, std::span(&octets, 1));
}

void PcapStream::fin_sent() {
  if (conversation_) conversation_->fin(conversation_->local, conversation_->remote);
}

void PcapStream::fin_received() {
  if (conversation_) conversation_->fin(conversation_->remote, conversation_->local);
}

void PcapStream::rst_sent() {
  if (conversation_) conversation_->rst(conversation_->local, conversation_->remote);
}

void PcapStream::rst_received() {
  if (conversation_) conversation_->rst(conversation_->remote, conversation_->local);
}

}  // namespace weft::transport
