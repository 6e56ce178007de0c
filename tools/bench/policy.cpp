// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/policy.hpp"

#include <algorithm>

#include "mpa/mulpdu.hpp"
#include "tools/cli/policy_option.hpp"

namespace weft::tools::bench {
namespace {

// The smaller of the two limits on a ULPDU; 0: neither was asked for.
std::uint32_t largest_ulpdu(const Options& options) {
  if (options.segments.emss == 0) return options.segments.mtu;
  const std::uint32_t fits = mpa::mulpdu(options.segments.emss, options.markers);
  return options.segments.mtu == 0 ? fits : std::min(fits, options.segments.mtu);
}

}  // namespace

Outcome<verbs::Policy> policy_of(const Options& options) {
  verbs::Policy policy;
  policy.startup.crc = options.crc;
  policy.startup.markers = options.markers;
  policy.startup.same_host = verbs::SameHost::kOff;
  policy.startup.max_ulpdu = largest_ulpdu(options);
  policy.startup.peer_to_peer = options.pattern == Pattern::kPerftest;  // as the drop-in libraries have it
  return read_policy(options.policy.text + options.policy.files, policy);
}

bool is_same_host(const Options& options) {
  const auto policy = policy_of(options);
  return policy && policy->startup.same_host != verbs::SameHost::kOff;
}

// The last word counts.
Options without_tls(Options options) {
  options.policy.files += ",tls=off";
  return options;
}

}  // namespace weft::tools::bench
