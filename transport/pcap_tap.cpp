// SPDX-License-Identifier: Apache-2.0
#include "transport/pcap_tap.hpp"

#include <algorithm>
#include <utility>

#include "packet/conversation.hpp"
#include "transport/detail/pcap_file.hpp"

namespace weft::transport {

namespace detail {
namespace {

using Side = packet::Conversation::Side;

constexpr std::uint8_t kWindowScale = 7;  // nearly 8 MiB

packet::Endpoint in_packets(const Endpoint& end) {
  const bool ipv4 = end.address.family == Family::kIpv4;
  return {{end.address.octets, ipv4 ? std::uint8_t{4} : std::uint8_t{6}}, end.port};
}

}  // namespace

struct PcapConversation {
  std::shared_ptr<PcapFile> file;
  packet::Conversation talk;
  Side local;

  void data(Side from, std::span<const Bytes> pieces) {
    const auto lock = file->lock();
    talk.send(*file, from, pieces);
  }
  void fin(Side from) {
    const auto lock = file->lock();
    talk.finish(*file, from);
  }
  void rst(Side from) {
    const auto lock = file->lock();
    talk.reset(*file, from);
  }
  [[nodiscard]] Side remote() const noexcept { return packet::Conversation::opposite(local); }
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
  using packet::Conversation;
  const std::size_t most = mss == 0 ? kMaxSegment : std::min(mss, kMaxSegment);
  const auto lock = file_->lock();
  Conversation::End ours{.endpoint = detail::in_packets(local), .next_sequence = file_->next_initial_sequence()};
  Conversation::End theirs{.endpoint = detail::in_packets(remote), .next_sequence = file_->next_initial_sequence()};
  const bool we_open = opener == Opener::kLocal;
  if (!we_open) std::swap(ours, theirs);
  auto conversation =
      std::make_unique<detail::PcapConversation>(file_, Conversation(ours, theirs, most, detail::kWindowScale),
                                                 we_open ? Conversation::Side::kOpener : Conversation::Side::kAnswerer);
  conversation->talk.open(*file_);
  return PcapStream(std::move(conversation));
}

PcapDatagrams PcapTap::open_datagrams(const Endpoint& local) noexcept { return PcapDatagrams(file_, local); }

PcapStream::PcapStream(std::unique_ptr<detail::PcapConversation> conversation) noexcept
    : conversation_(std::move(conversation)) {}
PcapStream::PcapStream() noexcept = default;
PcapStream::~PcapStream() = default;
PcapStream::PcapStream(PcapStream&&) noexcept = default;
PcapStream& PcapStream::operator=(PcapStream&&) noexcept = default;

void PcapStream::sent(std::span<const Bytes> pieces) {
  if (conversation_) conversation_->data(conversation_->local, pieces);
}

void PcapStream::received(Bytes octets) {
  if (conversation_) conversation_->data(conversation_->remote(), std::span(&octets, 1));
}

void PcapStream::fin_sent() {
  if (conversation_) conversation_->fin(conversation_->local);
}

void PcapStream::fin_received() {
  if (conversation_) conversation_->fin(conversation_->remote());
}

void PcapStream::rst_sent() {
  if (conversation_) conversation_->rst(conversation_->local);
}

void PcapStream::rst_received() {
  if (conversation_) conversation_->rst(conversation_->remote());
}

PcapDatagrams::PcapDatagrams(std::shared_ptr<detail::PcapFile> file, const Endpoint& local) noexcept
    : file_(std::move(file)), local_(local) {}
PcapDatagrams::PcapDatagrams() noexcept = default;
PcapDatagrams::~PcapDatagrams() = default;
PcapDatagrams::PcapDatagrams(PcapDatagrams&&) noexcept = default;
PcapDatagrams& PcapDatagrams::operator=(PcapDatagrams&&) noexcept = default;

void PcapDatagrams::sent(const Endpoint& to, Bytes octets) { record(local_, to, octets); }

void PcapDatagrams::received(const Endpoint& from, Bytes octets) { record(from, local_, octets); }

void PcapDatagrams::record(const Endpoint& from, const Endpoint& to, Bytes octets) {
  if (!file_ || octets.size() > kMaxPayload || from.address.family != to.address.family) return;
  const packet::Endpoint source = detail::in_packets(from);
  const packet::Endpoint destination = detail::in_packets(to);
  packet::PieceReader payload(std::span(&octets, 1));
  const auto lock = file_->lock();
  file_->write(packet::Datagram{.source = source, .destination = destination}, payload, octets.size());
}

}  // namespace weft::transport
