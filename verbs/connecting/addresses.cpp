// SPDX-License-Identifier: Apache-2.0
#include "verbs/connecting/addresses.hpp"

#include "transport/route.hpp"

namespace weft::verbs::detail {

// IPV6_V6ONLY has to be set before a socket is bound, so a wildcard is bound once more.
std::error_code Addresses::set_options(const Options& options) {
  const bool again = options.ipv6_only != options_.ipv6_only && reserved_.local().address.is_any();
  if (reserved_.is_open() && again) {
    auto made = reserved_.again(reserved_.local().address, options);
    if (!made) return made.error();
    reserved_ = std::move(*made);
  }
  if (reserved_.is_open()) reserved_.allow_reuse(options.reuse);
  options_ = options;
  return {};
}

std::error_code Addresses::bind(const Endpoint& local, Port port) {
  auto bound = port == Port::kLater && local.port == 0 ? transport::BoundSocket::at_address(local.address, options_)
                                                       : transport::BoundSocket::bind(local, options_);
  if (!bound) return bound.error();
  reserved_ = std::move(*bound);
  local_ = reserved_.local();
  return {};
}

std::error_code Addresses::adopt(int descriptor) {
  auto bound = transport::BoundSocket::own(descriptor);
  if (!bound) return bound.error();
  reserved_ = std::move(*bound);
  local_ = reserved_.local();
  return {};
}

std::expected<transport::Address, std::error_code> Addresses::resolve(const Endpoint& destination) {
  auto towards = reserve_towards(destination.address);
  if (towards) remote_ = destination;
  return towards;
}

// The address that connect will use, so that local() tells it from here on, and the port if there is one. A wildcard of
// the other family takes its port along.
std::expected<transport::Address, std::error_code> Addresses::reserve_towards(const Address& destination) {
  // By which interface a multicast group is reached, the sender decides, whatever the routes say.
  if (destination.is_multicast() && !local_.address.is_any()) return local_.address;
  transport::BoundSocket fresh;
  if (!reserved_.is_open()) {
    if (auto made = transport::BoundSocket::open(destination.family, options_)) fresh = std::move(*made);
  }
  auto source = transport::local_address_towards(destination, fresh.is_open() ? fresh : reserved_);
  if (!source) return source;
  if (fresh.is_open()) {
    if (!fresh.take_address(*source)) reserved_ = std::move(fresh);
  } else if (reserved_.is_open() && local_.address.family != source->family) {
    auto made = reserved_.again(Address::any(source->family), options_);
    if (made) reserved_ = std::move(*made);
  }
  local_ = {local_.address.is_any() ? *source : local_.address, reserved_.local().port};
  return source;
}

const transport::Endpoint& Addresses::local_with_port() noexcept {
  if (reserved_.is_open() && !reserved_.pick_port()) local_.port = reserved_.local().port;
  return local_;
}

}  // namespace weft::verbs::detail
