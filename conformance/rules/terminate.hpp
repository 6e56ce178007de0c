// SPDX-License-Identifier: Apache-2.0
// Rules on the Terminate message and on what follows it (RFC 5040 sections 4.8 and 5.4, RFC 6580).
#pragma once

#include "conformance/facts.hpp"
#include "conformance/rules/sent_headers.hpp"
#include "conformance/rules/ulpdu.hpp"

namespace weft::conformance::rules {

extern const Rule kTerminateAlone;        // RDMAP-5.4-05
extern const Rule kTerminateSize;         // RDMAP-4.8-02
extern const Rule kTerminateLayout;       // RDMAP-4.8-04
extern const Rule kTerminateCode;         // RDMAP-4.8-05
extern const Rule kTerminateReserved;     // RDMAP-4.8-11
extern const Rule kTerminateM;            // RDMAP-4.8-08
extern const Rule kTerminateD;            // RDMAP-4.8-09
extern const Rule kTerminateR;            // RDMAP-4.8-10
extern const Rule kQuotedLength;          // RDMAP-4.8-13
extern const Rule kQuotedHeader;          // RDMAP-4.8-15
extern const Rule kQuotedRequest;         // RDMAP-4.8-18
extern const Rule kLocalCatastrophic;     // RDMAP-4.8-37
extern const Rule kDdpLocalCatastrophic;  // RDMAP-IANA-3.2-01
extern const Rule kDdpReservedType;       // DDP-7.2-14
extern const Rule kAfterTerminate;        // RDMAP-5.4-10
extern const Rule kResetAfterTerminate;   // RDMAP-6.2.1-05

// The Terminate of one direction, and its end.
class Terminates {
 public:
  // `peer`: what the other end sent before, one of which this may quote.
  void on_terminate(const Ulpdu& ulpdu, const SentHeaders& peer, Findings& findings);
  // Any other FPDU of the direction.
  void on_other(const FpduSeen& fpdu, Findings& findings);
  void on_end(const EndSeen& end, Findings& findings);

 private:
  bool sent_ = false;
  bool told_ = false;
};

}  // namespace weft::conformance::rules
