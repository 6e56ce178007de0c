// SPDX-License-Identifier: Apache-2.0
// Reads a capture, judges it, and tells people: of a file when it is read; of a pipe or an interface as it goes.
#pragma once

#include <string>

#include "conformance/capture_reader.hpp"
#include "conformance/key_log.hpp"
#include "conformance/stop_switch.hpp"
#include "tools/audit/options.hpp"
#include "tools/audit/report.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::audit {

class Judge {
 public:
  // All of them have to outlive it; without a key log `keys` is null. An interrupt ends the reading, and what was read
  // counts.
  Judge(const Options& options, const Palette& palette, conformance::StopSwitch& stop, conformance::KeyLog* keys,
        KnownFindings& known)
      : options_(options), palette_(palette), stop_(stop), keys_(keys), known_(known) {}

  // Judges a capture file. If it cannot be read, the report contains only the damage.
  [[nodiscard]] Report file(const std::string& path);
  [[nodiscard]] Report interface(const std::string& name);

  // The known findings, after the last capture.
  [[nodiscard]] Known known() const;

  // Returns whether all packets of a live capture were written (-w).
  [[nodiscard]] const Outcome<void>& written() const noexcept { return written_; }
  // Where standard output takes no more, printing ends; without --json and --junit the reading ends, too.
  [[nodiscard]] const Outcome<void>& told() const noexcept { return told_; }

 private:
  [[nodiscard]] bool several() const noexcept { return options_.files.size() > 1; }
  Report unread(const std::string& name, const std::string& sentence);
  Report read(conformance::CaptureReader& reader, const std::string& name);
  void tell_as_it_goes(conformance::CaptureAudit& audit);
  void say(const std::string& text);
  void print(const Report& report, bool as_it_went);

  const Options& options_;
  const Palette& palette_;
  conformance::StopSwitch& stop_;
  conformance::KeyLog* keys_;
  KnownFindings& known_;
  bool any_read_ = false;
  Outcome<void> told_{};
  Outcome<void> written_{};
};

}  // namespace weft::tools::audit
