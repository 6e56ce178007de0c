// SPDX-License-Identifier: Apache-2.0
#include "conformance/key_log.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "conformance/capture/stoppable_file.hpp"
#include "transport/system_words.hpp"

namespace weft::conformance {
namespace {

constexpr std::size_t kLongestLine = 512;  // more than the longest label, a random and a secret of 48 octets
constexpr std::size_t kLongestSecret = 48;

int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::optional<std::vector<std::byte>> octets_of(std::string_view digits) {
  if (digits.size() % 2 != 0 || digits.size() > 2 * kLongestSecret) return std::nullopt;
  std::vector<std::byte> octets;
  for (; !digits.empty(); digits.remove_prefix(2)) {
    const int high = digit(digits[0]), low = digit(digits[1]);
    if (high < 0 || low < 0) return std::nullopt;
    octets.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return octets;
}

// Up to the next blank, which goes, too.
std::string_view next_word(std::string_view& line) noexcept {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

// Where a secret with this label belongs; null for those that are not needed.
std::vector<std::byte>* place_of(std::string_view label, TlsSecrets& secrets) noexcept {
  if (label == "CLIENT_HANDSHAKE_TRAFFIC_SECRET") return &secrets.client.handshake;
  if (label == "SERVER_HANDSHAKE_TRAFFIC_SECRET") return &secrets.server.handshake;
  if (label == "CLIENT_TRAFFIC_SECRET_0") return &secrets.client.traffic;
  return label == "SERVER_TRAFFIC_SECRET_0" ? &secrets.server.traffic : nullptr;
}

// CLIENT_RANDOM is the label of TLS 1.2.
bool is_label(std::string_view word) noexcept {
  return word == "CLIENT_RANDOM" || word.find("_SECRET") != std::string_view::npos;
}

}  // namespace

KeyLog::KeyLog() = default;
KeyLog::~KeyLog() = default;
KeyLog::KeyLog(KeyLog&&) noexcept = default;
KeyLog& KeyLog::operator=(KeyLog&&) noexcept = default;

std::expected<KeyLog, std::string> KeyLog::open(const std::string& path, const Opening& how) {
  KeyLog log;
  log.grows_ = how.grows;
  log.file_ = std::make_unique<capture::StoppableFile>(path, how.stop);
  if (!log.file_->is_open() || !log.read_on())
    return std::unexpected("cannot read " + path + ": " + system_words(errno));
  if (log.file_->stopped()) return std::unexpected(path + " was not read: the interrupt came before its end");
  return log;
}

void KeyLog::add(std::string_view text) {
  const std::string begun = std::exchange(begun_, {});
  const bool passing_over = std::exchange(passing_over_, false);
  take(text);
  take("\n");
  begun_ = begun;
  passing_over_ = passing_over;
}

KeyLog KeyLog::of_text(std::string_view text) {
  KeyLog log;
  log.take(text);
  log.take("\n");
  return log;
}

const TlsSecrets* KeyLog::find(const ClientRandom& random) {
  const auto known = secrets_.find(random);
  const auto whole = [](const TlsSecrets::OfEnd& end) { return !end.handshake.empty() && !end.traffic.empty(); };
  if (known != secrets_.end() && whole(known->second.client) && whole(known->second.server)) return &known->second;
  read_on();
  const auto found = secrets_.find(random);
  return found == secrets_.end() ? nullptr : &found->second;
}

// What was added since. False: it cannot be read. What has no line of a key log in its front is none, and may never
// end.
bool KeyLog::read_on() {
  constexpr std::size_t kFront = std::size_t{1} << 20;
  if (!file_ || ended_) return true;
  const bool pipe = !file_->size();
  std::array<char, 16384> octets;
  for (std::size_t all = 0; !empty() || all < kFront;) {
    if (pipe && grows_ && !file_->ready()) return true;
    const ssize_t got = file_->read(std::as_writable_bytes(std::span(octets)));
    if (got < 0) return false;
    if (got == 0) {
      ended_ = pipe;
      return true;
    }
    take({octets.data(), static_cast<std::size_t>(got)});
    all += static_cast<std::size_t>(got);
  }
  ended_ = pipe;
  return true;
}

void KeyLog::take(std::string_view octets) {
  while (!octets.empty()) {
    const std::size_t end = octets.find('\n');
    const std::string_view piece = octets.substr(0, end);
    if (begun_.size() + piece.size() > kLongestLine) passing_over_ = true;
    if (!passing_over_) begun_ += piece;
    if (end == std::string_view::npos) return;
    if (!passing_over_) take_line(begun_);
    begun_.clear();
    passing_over_ = false;
    octets.remove_prefix(end + 1);
  }
}

void KeyLog::take_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view label = next_word(line);
  const auto random = octets_of(next_word(line));
  auto secret = octets_of(line);
  ClientRandom key{};
  if (!is_label(label) || !random || random->size() != key.size() || !secret || secret->empty()) return;
  ++lines_;
  std::ranges::copy(*random, key.begin());
  TlsSecrets unused;
  if (place_of(label, unused) == nullptr || (secrets_.size() == kMost && !secrets_.contains(key))) return;
  *place_of(label, secrets_[key]) = std::move(*secret);
}

}  // namespace weft::conformance
