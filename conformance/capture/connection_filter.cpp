// SPDX-License-Identifier: Apache-2.0
#include "conformance/connection_filter.hpp"
#include "common/number.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::conformance {
namespace {

using AddressOctets = std::array<std::byte, 16>;
constexpr unsigned kMappedBits = 96;

struct ParsedAddress {
  AddressOctets octets{};
  bool ipv4{};
};

std::optional<ParsedAddress> parse_address(const std::string& text) {
  ParsedAddress address;
  if (::inet_pton(AF_INET6, text.c_str(), address.octets.data()) == 1) return address;
  address.octets[10] = address.octets[11] = std::byte{0xff};
  address.ipv4 = true;
  if (::inet_pton(AF_INET, text.c_str(), address.octets.data() + 12) == 1) return address;
  return std::nullopt;
}

bool begins_alike(const AddressOctets& one, const AddressOctets& other, unsigned bits) noexcept {
  const auto whole = static_cast<std::ptrdiff_t>(bits / 8);
  if (!std::equal(one.begin(), one.begin() + whole, other.begin())) return false;
  if (bits % 8 == 0) return true;
  const auto at = static_cast<std::size_t>(whole);
  return std::to_integer<unsigned>(one[at] ^ other[at]) >> (8 - bits % 8) == 0;
}

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n'; }

// Words, and the characters that are words by themselves.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    if (is_blank(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    std::size_t size = 1;
    if (text.starts_with("&&") || text.starts_with("||")) {
      size = 2;
    } else if (!std::string_view("()!").contains(text.front())) {
      size = std::min(text.find_first_of(" \t\n()!&|"), text.size());
      size = std::max<std::size_t>(size, 1);
    }
    words.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return words;
}

}  // namespace

// By recursive descent: or, and, not, term.
class ConnectionFilter::Parser {
 public:
  explicit Parser(std::vector<std::string> words) : words_(std::move(words)) {}

  std::expected<ConnectionFilter, std::string> parse() {
    if (words_.empty()) return std::unexpected("it is empty");
    parse_or();
    if (wrong_.empty() && at_ < words_.size()) fail("'" + words_[at_] + "' is not and, or or the end");
    if (!wrong_.empty()) return std::unexpected(wrong_);
    return std::move(filter_);
  }

 private:
  void fail(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
  }
  bool take(std::string_view word, std::string_view other) {
    if (!wrong_.empty() || at_ == words_.size() || (words_[at_] != word && words_[at_] != other)) return false;
    ++at_;
    return true;
  }
  // The word after "host" and the like.
  std::string value_of(const std::string& term) {
    if (at_ < words_.size()) return words_[at_++];
    fail("'" + term + "' has no value");
    return {};
  }

  void parse_or() {
    parse_and();
    while (take("or", "||")) {
      parse_and();
      filter_.steps_.push_back({.kind = Step::kOr});
    }
  }

  void parse_and() {
    parse_not();
    while (take("and", "&&")) {
      parse_not();
      filter_.steps_.push_back({.kind = Step::kAnd});
    }
  }

  void parse_not() {
    if (++depth_ > kMostDepth) return fail("it is nested too deeply");
    if (take("not", "!")) {
      parse_not();
      filter_.steps_.push_back({.kind = Step::kNot});
    } else if (take("(", "(")) {
      parse_or();
      if (!take(")", ")")) fail("a parenthesis is not closed");
    } else {
      parse_term();
    }
    --depth_;
  }

  void parse_term() {
    if (!wrong_.empty()) return;
    if (at_ == words_.size()) return fail("it ends where host, net or port is expected");
    const std::string term = words_[at_++];
    if (term == "host") return parse_net(value_of(term), false);
    if (term == "net") return parse_net(value_of(term), true);
    if (term == "port") return parse_ports(value_of(term));
    fail("'" + term + "' is not host, net, port, not or a parenthesis");
  }

  void parse_net(const std::string& value, bool prefixed) {
    const std::size_t slash = prefixed ? std::min(value.find('/'), value.size()) : value.size();
    const auto address = parse_address(value.substr(0, slash));
    if (!address) return fail("'" + value + "' is not an IP address" + (prefixed ? " with a prefix length" : ""));
    const unsigned most = address->ipv4 ? 32 : 128;
    unsigned prefix = most;
    if (slash < value.size()) {
      const auto length = parse_number<unsigned>(std::string_view(value).substr(slash + 1));
      if (!length || *length > most)
        return fail("'" + value + "' has no prefix length of 0 to " + std::to_string(most));
      prefix = *length;
    }
    filter_.steps_.push_back(
        {.kind = Step::kNet, .address = address->octets, .prefix = prefix + (address->ipv4 ? kMappedBits : 0)});
  }

  void parse_ports(const std::string& value) {
    const std::size_t dash = std::min(value.find('-'), value.size());
    const auto low = parse_number<std::uint16_t>(std::string_view(value).substr(0, dash));
    const auto high =
        dash == value.size() ? low : parse_number<std::uint16_t>(std::string_view(value).substr(dash + 1));
    if (!low || !high || *low > *high) return fail("'" + value + "' is not a port or a range of ports");
    filter_.steps_.push_back({.kind = Step::kPort, .low = *low, .high = *high});
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::string wrong_{};
  ConnectionFilter filter_{};
};

std::expected<ConnectionFilter, std::string> ConnectionFilter::parse(std::string_view text) {
  return Parser(words_of(text)).parse();
}

bool ConnectionFilter::takes(const ConnectionInfo& info) const {
  if (takes_all()) return true;
  const std::array ends{&info.first, &info.second};
  const auto holds = [&](const Step& step) {
    return std::ranges::any_of(ends, [&](const ConnectionEnd* end) {
      if (step.kind == Step::kPort) return step.low <= end->port && end->port <= step.high;
      const auto address = parse_address(end->address);
      return address && begins_alike(address->octets, step.address, step.prefix);
    });
  };
  std::vector<bool> stack;
  for (const Step& step : steps_) {
    if (step.kind == Step::kNet || step.kind == Step::kPort) {
      stack.push_back(holds(step));
      continue;
    }
    const bool last = stack.back();
    if (step.kind == Step::kNot) {
      stack.back() = !last;
      continue;
    }
    stack.pop_back();
    stack.back() = step.kind == Step::kAnd ? stack.back() && last : stack.back() || last;
  }
  return stack.back();
}

}  // namespace weft::conformance
