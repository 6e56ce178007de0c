// SPDX-License-Identifier: Apache-2.0
// What `weft audit` found in one capture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/capture_audit.hpp"
#include "tools/cli/known_findings.hpp"

namespace weft::tools::audit {

// A rule that was broken, how often, and where first.
struct Broken {
  const conformance::Rule* rule{};
  std::uint64_t count{};
  std::uint64_t known{};  // of these
  std::size_t connection{};
  conformance::Place place{};
};

// Known findings (--known) count as such and not by their severity.
struct Counts {
  std::uint64_t violations{}, warnings{}, notes{}, known{};

  void add(conformance::Severity severity, std::uint64_t count);
  void add(const Counts& more);
};

// Octets of iWARP connections. A verdict needs most of them: one lost packet in a long capture is no error.
struct Coverage {
  std::uint64_t read{};
  std::uint64_t missing{};  // from the capture
  std::uint64_t unread{};   // because they, or others near them, are missing

  void add(const Coverage& more);
  [[nodiscard]] bool whole() const noexcept { return missing == 0 && unread == 0; }
  [[nodiscard]] bool enough() const noexcept { return unread <= read; }
};

// Connections beyond those that a report describes: memory does not grow with them.
struct LeftOut {
  std::size_t connections{};
  std::vector<Broken> broken{};  // each rule once
  Coverage coverage{};

  void take(const conformance::ConnectionReport& connection);
};

struct Report {
  std::string file{};  // shown_text()
  std::uint64_t packets{};
  std::size_t tcp_connections{};
  std::size_t silent_connections{};  // of these: within one host, without octets
  std::string damage{};              // shown_text(): why reading ended before the end of the capture; empty: it did not
  std::vector<conformance::ConnectionReport> connections{};  // those that speak iWARP, in the order of their numbers

  LeftOut left_out{};
  std::vector<conformance::TlsReport> tls{};  // connections that speak TLS, and in which no iWARP was found
  std::size_t tls_connections{};              // how many there are, should these not be all

  // A connection that is over: described where fewer than `most` are, else counted.
  void take(conformance::ConnectionReport connection, std::size_t most);
  void take_tls(const std::vector<conformance::TlsReport>& connections, std::size_t all);
  // Nothing of it could be read.
  [[nodiscard]] bool unread() const noexcept { return packets == 0 && !damage.empty(); }
  // What could not be decrypted though its secrets are known was not read: it counts as damage. So does the rest of a
  // connection that was dropped for others.
  void note_hidden(const conformance::ConnectionInfo& info, const conformance::TlsFacts& facts);
  void note_cut(const conformance::ConnectionInfo& info, std::string_view done, std::string_view why);
  [[nodiscard]] std::size_t iwarp_connections() const noexcept { return connections.size() + left_out.connections; }
};

[[nodiscard]] Counts counts_of(const conformance::ConnectionReport& connection);
[[nodiscard]] Counts counts_of(const Report& report);

[[nodiscard]] Coverage coverage_of(const conformance::Tally& tally);
[[nodiscard]] Coverage coverage_of(const conformance::ConnectionReport& connection);
[[nodiscard]] Coverage coverage_of(const Report& report);

// Each rule once: violations before warnings before notes, and each of these in the order of their first places.
[[nodiscard]] std::vector<Broken> broken_rules(const Report& report);

// The entries of --known after all captures: those that did not occur and could have.
struct Known {
  const KnownFindings& findings;
  std::vector<const KnownFinding*> absent{};
};

// Marks the findings that are known.
void mark_known(conformance::ConnectionReport& connection, KnownFindings& known);
void mark_known(conformance::Finding& finding, KnownFindings& known);

// "initiator" or "responder"; "both" when there is none.
[[nodiscard]] std::string_view who(const std::optional<conformance::Direction>& direction) noexcept;

}  // namespace weft::tools::audit
