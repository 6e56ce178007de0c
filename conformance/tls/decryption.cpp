// SPDX-License-Identifier: Apache-2.0
#include "conformance/tls/decryption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "common/text.hpp"

namespace weft::conformance::tls {
namespace {

ContentType type_of(Bytes record) noexcept { return static_cast<ContentType>(record.front()); }
std::size_t size_of(Bytes record) noexcept { return kHeaderSize + Be<3, std::uint16_t>::get(record); }

bool is_record(Bytes header) noexcept {
  const auto type = type_of(header);
  return type >= ContentType::kChangeCipherSpec && type <= ContentType::kApplicationData && header[1] == std::byte{3} &&
         size_of(header) <= kHeaderSize + kMostFragment;
}

}  // namespace

void Decryption::feed(const TcpEvent& event) {
  std::visit([this](const auto& e) { on(e); }, event);
}

void Decryption::on(const TcpOpened& opened) {
  out_.emplace_back(TcpOpened{.handshake_seen = opened.handshake_seen, .syn_missing = opened.syn_missing});
}

void Decryption::on(const TcpOctets& octets) {
  Half& sender = half(octets.from);
  sender.packet = octets.place.packet;
  const bool over = sender.phase == Phase::kClosed || sender.phase == Phase::kStopped || sender.gap;
  if (!over) sender.window.append(octets);
}

void Decryption::on(const TcpGap& gap) {
  if (!half(gap.from).gap) half(gap.from).gap = gap;
}

void Decryption::on(const TcpClosed& closed) {
  if (!half(closed.from).closed) half(closed.from).closed = closed;
}

const TcpEvent* Decryption::next() {
  while (given_ == out_.size()) {
    out_.clear();
    given_ = 0;
    if (step(half(End::kFirst)) || step(half(End::kSecond))) continue;
    for (Half& each : halves_) each.window.keep();
    return nullptr;
  }
  return &out_[given_++];
}

// Something of this direction. False: nothing for now.
bool Decryption::step(Half& half) {
  OctetWindow& window = half.window;
  window.show(window.hidden());
  if (half.phase == Phase::kClosed || half.phase == Phase::kStopped) window.restart(window.end());
  const Bytes all = window.octets();
  if (all.size() < kHeaderSize) return end_of(half);
  if (!is_record(all)) {
    stop(half, fmt::format("packet {} has octets that are no record of TLS", window.place(0).packet));
    return true;
  }
  if (all.size() < size_of(all)) return end_of(half);
  const Bytes record = all.first(size_of(all));
  if (!read(half, record)) return false;
  if (half.phase != Phase::kStopped) window.drop(record.size());
  return true;
}

// No more whole record is there. What a gap or the end of the direction cuts off cannot be opened.
bool Decryption::end_of(Half& half) {
  if (half.gap && half.phase != Phase::kStopped && half.phase != Phase::kClosed) {
    stop(half, fmt::format("at packet {} octets are missing in the capture", half.gap->packet));
    return true;
  }
  if (!half.closed) return false;
  const TcpClosed closed = *std::exchange(half.closed, std::nullopt);
  if (!half.window.empty()) stop(half, fmt::format("at packet {} the connection ends inside a record", closed.packet));
  out_.emplace_back(closed);
  return true;
}

// False: it has to wait. A change_cipher_spec means nothing (section 5), and alerts in clear end what has not begun.
bool Decryption::read(Half& half, Bytes record) {
  if (type_of(record) == ContentType::kApplicationData) return read_protected(half, record);
  if (half.phase == Phase::kHello && type_of(record) == ContentType::kHandshake)
    read_hello(half, record.subspan(kHeaderSize));
  return true;
}

void Decryption::read_hello(Half& half, Bytes messages) {
  while (const auto message = half.messages.next(messages)) {
    if (message->type == MessageType::kClientHello) {
      const auto random = client_random(message->body);
      if (!random) continue;
      client_ = half.end;
      random_ = *random;
    } else if (message->type == MessageType::kServerHello) {
      choice_ = server_choice(message->body);
      const Suite* const suite = choice_ ? find_suite(choice_->suite) : nullptr;
      if (suite != nullptr && choice_->tls_1_3) facts_.cipher = suite->name;
    }
  }
}

bool Decryption::read_protected(Half& half, Bytes record) {
  if (half.phase == Phase::kHello && !begin(half, Phase::kHandshake)) {
    if (half.phase == Phase::kStopped) return true;
    if (!gives_up(half)) return false;
    stop(half, why_no_keys(half));
    return true;
  }
  if (const auto opened = half.cipher->open(record)) {
    read_inside(half, *opened);
  } else {
    stop(half,
         fmt::format("the tag of the record at packet {} does not verify: its octets were changed, or the key log has "
                     "a wrong secret",
                     half.window.place(record.size() - 1).packet));
  }
  return true;
}

void Decryption::read_inside(Half& half, const Opened& opened) {
  constexpr std::size_t kDescription = 1;  // after the alert's level
  constexpr std::byte kCloseNotify{0};
  switch (opened.type) {
    case ContentType::kApplicationData:
      if (half.phase == Phase::kApplication) tell(half, opened.content);
      break;
    case ContentType::kHandshake: read_messages(half, opened.content); break;
    case ContentType::kAlert:
      if (opened.content.size() > kDescription && opened.content[kDescription] == kCloseNotify)
        half.phase = Phase::kClosed;
      break;
    case ContentType::kChangeCipherSpec: break;
  }
}

// Keys change at the end of a record (section 5.1).
void Decryption::read_messages(Half& half, Bytes messages) {
  bool finished = false, updated = false;
  while (const auto message = half.messages.next(messages)) {
    finished = finished || message->type == MessageType::kFinished;
    updated = updated || message->type == MessageType::kKeyUpdate;
  }
  if (finished && half.phase == Phase::kHandshake) begin(half, Phase::kApplication);
  if (updated && half.phase == Phase::kApplication && !half.cipher->update())
    stop(half, "OpenSSL cannot make its keys");
}

// A run for each packet, for its octets lie side by side there.
void Decryption::tell(Half& half, Bytes content) {
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t run = std::min(half.window.run(kHeaderSize + at), content.size() - at);
    out_.emplace_back(TcpOctets{.from = half.end,
                                .octets = content.subspan(at, run),
                                .place = half.window.place(kHeaderSize + at),
                                .stream_offset = half.told,
                                .acknowledged = in_clear(half, half.window.acknowledged(kHeaderSize + at))});
    half.told += run;
    at += run;
  }
  half.records.emplace_back(half.window.begin() + size_of(half.window.octets()), half.told);
  if (half.records.size() > kMostRecords) half.records.pop_front();
}

// An acknowledgment of octets on the wire as one of octets in clear: an end reads whole records only. Unknown while
// records up to there have not been opened.
std::optional<std::uint64_t> Decryption::in_clear(const Half& half, std::optional<std::uint64_t> acknowledged) {
  const Half& peer = this->half(opposite(half.end));
  if (!acknowledged || peer.phase == Phase::kStopped) return std::nullopt;
  const std::uint64_t opened = peer.window.begin();
  const Bytes rest = peer.window.all();
  const std::size_t next = rest.size() >= kHeaderSize ? size_of(rest) : rest.size() + 1;
  const bool inside = *acknowledged < opened + next;
  if (*acknowledged > opened && !inside) return std::nullopt;
  const auto behind =
      std::ranges::upper_bound(peer.records, *acknowledged, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
  if (behind != peer.records.begin()) return std::prev(behind)->second;
  return peer.records.size() < kMostRecords ? std::optional<std::uint64_t>(0) : std::nullopt;
}

bool Decryption::begin(Half& half, Phase phase) {
  const auto* const secrets = secrets_of(half);
  if (secrets == nullptr) return false;
  facts_.keyed = true;
  const Suite& suite = *find_suite(choice_->suite);
  const auto& secret = phase == Phase::kHandshake ? secrets->handshake : secrets->traffic;
  if (secret.size() != suite.secret_size) {
    stop(half, fmt::format("the key log has a secret of {} octets for {}", secret.size(), suite.name));
    return false;
  }
  half.cipher = RecordCipher::make(suite, secret);
  if (!half.cipher) {
    stop(half, "OpenSSL cannot make its keys");
    return false;
  }
  half.phase = phase;
  half.messages = {};
  return true;
}

// Both of this end: what goes without one of them is of no use.
const TlsSecrets::OfEnd* Decryption::secrets_of(const Half& half) {
  const bool known = has_log() && client_ && choice_ && choice_->tls_1_3 && find_suite(choice_->suite) != nullptr;
  const TlsSecrets* const secrets = known ? keys_->find(random_) : nullptr;
  if (secrets == nullptr) return nullptr;
  const auto& own = half.end == *client_ ? secrets->client : secrets->server;
  return own.handshake.empty() || own.traffic.empty() ? nullptr : &own;
}

// The ServerHello may be captured after what the client sends next, and a secret may be written late.
bool Decryption::gives_up(const Half& half) const noexcept {
  const bool never =
      !has_log() || !client_ || (choice_ && (!choice_->tls_1_3 || find_suite(choice_->suite) == nullptr));
  return never || finished_ || half.gap || half.window.size() > kMostWaiting;
}

std::string Decryption::why_no_keys(const Half& half) const {
  if (!has_log()) return "no key log was given (--keylog)";
  if (!client_) return "its ClientHello is not in the capture";
  if (!choice_) return "its ServerHello is not in the capture";
  if (!choice_->tls_1_3) return "it is TLS 1.2 or older";
  if (find_suite(choice_->suite) == nullptr)
    return fmt::format("its cipher suite {} is not known here", weft::hex(choice_->suite));
  return fmt::format("the key log lacks secrets of its {} for the client random {}",
                     half.end == *client_ ? "client" : "server", hex_digits(random_));
}

// The first reason counts. What was told of this direction ends in a gap: neither end is blamed for what follows.
void Decryption::stop(Half& half, std::string why) {
  if (facts_.hidden.empty()) facts_.hidden = std::move(why);
  half.phase = Phase::kStopped;
  half.cipher.reset();
  out_.emplace_back(TcpGap{.from = half.end, .stream_offset = half.told, .size = 1, .packet = half.packet});
}

}  // namespace weft::conformance::tls
