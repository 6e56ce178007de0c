# SPDX-License-Identifier: Apache-2.0
"""The initiator: its Request, and what it thinks of the Reply. The program with the fault connects to the prober."""

from functools import partial

from . import TABLE

START, NEGOTIATION = "startup frame", "negotiation"
at = partial(TABLE.file("mpa/initiator.cpp"), peer="connects")

at("rejection-overlooked", START, "MPA-7.1.1-16 MPA-7.1.2-15 MPA-7.1.4.2-03", "A Reply with R = 1 counts as accepting.",
   "(*reply)->reject", "false")
at("reply-revision-unchecked", START, "MPA-7.1.1-20 MPA-7.1.1-21 MPA-7.1.2-14", "A Reply of any revision is accepted.",
   "if ((*reply)->revision < 1 || (*reply)->revision > kHighestRevision)\n    return fail(Fault::kUnsupportedRevision);", "")
at("a-bit-of-reply-unread", NEGOTIATION, "MPA2-9.2-06 MPA2-9.2-17 MPA2-12-01 MPA-7.1.2-14",
   "The A bit of a Reply may be anything.",
   "if (reply.enhanced && reply.enhanced->peer_to_peer != policy.peer_to_peer) return Fault::kModelNotMirrored;", "")
at("small-ird-unnoticed", NEGOTIATION, "MPA2-9.1-13 MPA2-9.1-15 MPA2-9.1-16 MPA2-9.1-06 RDMAP-IANA-3.3-06",
   "A Reply whose ORD is beyond the own IRD is accepted.",
   "if (!ird_suffices(agreement.ird, agreement.peer_ord)) return Fault::kInsufficientIrd;", "")
at("small-ird-told-as-rtr", NEGOTIATION, "MPA2-9.1-16 MPA2-9.1-15 RDMAP-IANA-3.3-06",
   "The Terminate for an IRD that is too small says that no RTR matches.",
   "return Fault::kInsufficientIrd;", "return Fault::kNoMatchingRtr;")
at("no-common-rtr-unnoticed", NEGOTIATION, "MPA2-9.2-13 MPA2-9.2-14 MPA2-9.2-12 RDMAP-IANA-3.3-07",
   "A Reply without an RTR type of its own is accepted.",
   "if (agreement.peer_to_peer && !agreement.rtr) return Fault::kNoMatchingRtr;", "", policy="peer-to-peer=on")
at("ord-beyond-ird", NEGOTIATION, "MPA2-9.1-14 MPA2-9.1-06 MPA2-3-02 RDMAP-6.1-08 SEC-6.4.3.3-04",
   "The own ORD stays beyond the IRD of the Reply.", "result.ord = ord_within(result.ord, result.peer_ird);", "")
at("request-without-c", "CRC", "MPA-4.4-04 MPA-4.4-05",
   "The Request has C = 0, though the administrator has not asked for that, and CRCs are checked all the same.",
   "policy_.crc", "false", near=".crc = policy_.crc,  // on, unless")
at("request-with-r", START, "MPA-7.1.1-14",
   "The Request has R = 1.", "false", "true", near=".reject = false,     // MPA-7.1.1-14")
engine = partial(TABLE.file("engine/state_startup.cpp"), peer="connects", policy="peer-to-peer=on")
engine("rtr-not-sent", NEGOTIATION, "MPA2-9.2-12 MPA2-5-03 MPA2-9.3-03 MPA2-3-03",
       "No ready-to-receive message opens a peer-to-peer connection.",
       "if (agreement.rtr) queue.push(rtr_request(*agreement.rtr), true);", "")
engine("rtr-of-another-type", NEGOTIATION, "MPA2-9.2-12 MPA2-1.1-02 MPA2-9.3-03",
       "Where RTR by Write was agreed, a Send is sent.",
       "return {.operation = Operation::kWrite};", "return {.operation = Operation::kSend};")
