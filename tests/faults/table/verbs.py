# SPDX-License-Identifier: Apache-2.0
"""Memory and streams: rights, domains and bounds, invalidation, atomics, and what the application posts and hears."""

from . import TABLE

RIGHTS, SEND = "rights and bounds", "Send and Invalidate"
grant = TABLE.file("rdmap/grant.hpp")
OWNERS = "grant.domain == who.domain && (grant.only_stream == 0 || grant.only_stream == who.stream)"
grant("domain-ignored", RIGHTS, "DDP-8.2-03 DDP-8.3.1-02 SEC-6.1.1-03 SEC-6.1.1-01 SEC-2.2.4-02 RDMAP-8.1.1-01 RDMAP-7.2-10 DDP-7.2-05",
      "An STag of another Protection Domain is good.",
      OWNERS, "grant.only_stream == 0 || grant.only_stream == who.stream")
grant("stream-ignored", RIGHTS,
      "DDP-8.2-05 DDP-8.3.1-03 SEC-6.1.1-04 SEC-2.2.5-02 SEC-6.1.1-01 RDMAP-8.1.1-02 RDMAP-7.2-10 RDMAP-5.3-13 RDMAP-5.3-15 RDMAP-7.2-08",
      "An STag of another stream is good.", OWNERS, "grant.domain == who.domain")
ACCESS = """if (!has(grant.access & who.rights, needed)) return std::unexpected(ddp::AccessError::kAccessRights);"""
grant("write-right-ignored", RIGHTS, "DDP-7.1-13 SEC-2.2.2-02", "A region that may only be read is written.",
      ACCESS, "if (needed != Access::kRemoteWrite && !has(grant.access & who.rights, needed)) return std::unexpected(ddp::AccessError::kAccessRights);")
grant("read-right-ignored", RIGHTS, "RDMAP-7.2-11 SEC-2.2.2-02 SEC-6.3.5-02 RDMAP-4.8-26",
      "A region that may only be written is read.",
      ACCESS, "if (needed != Access::kRemoteRead && !has(grant.access & who.rights, needed)) return std::unexpected(ddp::AccessError::kAccessRights);")
grant("atomic-right-ignored", "atomics", "RDMAPX-8.2-06", "A region without that right takes atomics.",
      ACCESS, "if (needed != Access::kRemoteAtomic && !has(grant.access & who.rights, needed)) return std::unexpected(ddp::AccessError::kAccessRights);")
BOUNDS = "DDP-7.1-14 DDP-7.1-15 DDP-7.2-04 DDP-8.1-01 DDP-8.3.1-04 SEC-6.2.1-01 SEC-6.2.1-02 " \
         "SEC-6.3.1-01 RDMAP-7.2-12 RDMAP-7.2-13 RDMAP-8.1.1-03 RDMAP-4.8-25"
grant("one-octet-beyond", RIGHTS, BOUNDS, "One octet after a region is part of it.",
      "length <= grant.length - skip", "length <= grant.length - skip + 1")
grant("eight-octets-beyond", RIGHTS, BOUNDS, "The end of a region is rounded up to a multiple of eight.",
      "skip <= grant.length && length <= grant.length - skip", "skip <= grant.length && length <= ((grant.length + 7) & ~std::uint64_t{7}) - skip")
grant("last-octet-refused", RIGHTS, "DDP-7.1-15 RDMAP-5.1-05 RDMAP-5.2.1-10 DDP-5.1.1-01 RDMAP-7.2-13 SEC-6.2.1-02",
      "The last octet of a region cannot be used.",
      "skip <= grant.length && length <= grant.length - skip", "skip <= grant.length && length < grant.length - skip")
grant("end-unchecked", RIGHTS, BOUNDS, "A range that begins in a region may end anywhere.",
      "skip <= grant.length && length <= grant.length - skip", "skip <= grant.length")
table = TABLE.file("verbs/memory/stag_table.cpp")
table("stag-key-ignored", RIGHTS, "DDP-7.1-12 DDP-7.2-03 SEC-5.1.1-01 RDMAP-7.2-09 RDMAP-4.8-24",
      "The key of an STag, its low octet, is not compared.",
      "found == home.entries.end() || !found->second || found->second->stag != stag", "found == home.entries.end() || !found->second")
table("invalidated-still-good", SEND, "RDMAP-5.3-14 RDMAP-1.2-02 RDMAP-5.3-13",
      "A region that the peer has invalidated can still be used.",
      "entry && mark_revoked(*entry)", "entry != nullptr")
region = TABLE.file("verbs/memory/region_state.cpp")
region("revoked-still-good", RIGHTS, "DDP-8.3-02 DDP-8.3.1-07 SEC-6.2.2-02 RDMAP-8.1.1-06 DDP-7.1-12 RDMAP-7.2-09",
       "A region that its owner has deregistered can still be used.",
       "table_->revoke(stag_);", "return true;", near="table_->revoke(stag_);  // false when the peer")
region("invalidated-window-still-good", SEND, "RDMAP-5.3-14 RDMAP-1.2-02 RDMAP-5.3-13",
       "A window that the peer has invalidated can still be used.",
       "table_->withdraw(stag_);", "")
rights = TABLE.file("verbs/memory/stream_memory_rights.cpp")
KNOWN = "if (const auto may = rdmap::check_invalidate(remote_lease_.grant(), who_); !may) return may;"
rights("invalidate-not-done", SEND, "RDMAP-5.3-14 RDMAP-1.2-02",
       "A Send with Invalidate is checked, and invalidates nothing.", KNOWN, KNOWN + " return {};")
rights("invalidates-of-other-streams", SEND, "RDMAP-5.3-13 RDMAP-5.3-15 RDMAP-7.2-08 RDMAP-7.2-07 SEC-6.1.1-04 RDMAP-8.1.1-02",
       "A peer invalidates what belongs to another stream.", KNOWN,
       "if (remote_lease_.grant().only_stream == 0) return std::unexpected(AccessError::kNotAssociated);")
grant("invalidates-shared", SEND, "RDMAP-8.1.1-07 RDMAP-5.3-13 RDMAP-5.3-15",
      "A peer invalidates a region that all streams may use.",
      "grant.only_stream == 0 || !detail::associated(grant, who)", "!detail::associated(grant, who)")
memory = TABLE.file("verbs/memory/stream_memory.cpp")
memory("atomics-with-write-right", "atomics", "RDMAPX-8.2-06", "The right to write is the right to atomics.",
       "Access::kRemoteAtomic", "Access::kRemoteWrite")
ALIGNED = "if (std::bit_cast<std::uintptr_t>(*at) % rdmap::kAtomicAlignment != 0)\n    return std::unexpected(AccessError::kUnaligned);"
UNALIGNED = "RDMAPX-8.2-04 RDMAPX-8.2-05 RDMAPX-5.1.1-05 RDMAPX-5.1.1-06 RDMAPX-5.1.1-07 RDMAPX-5.1.2-07 RDMAPX-5.1.2-08 RDMAPX-5.1.2-09 " \
            "RDMAPX-5.1.2-10 RDMAPX-5.2.1-08 RDMAPX-5-05"
# std::atomic_ref stops the process when its object is not aligned.
EXECUTED = "if (std::bit_cast<std::uintptr_t>(*at) % 8 != 0) { std::uint64_t before = 0; __builtin_memcpy(&before, *at, 8); " \
           "const std::uint64_t after = rdmap::apply(op, before); __builtin_memcpy(*at, &after, 8); return before; }"
memory("alignment-unchecked", "atomics", UNALIGNED, "An atomic on a misaligned address is executed.", ALIGNED, EXECUTED)
memory("new-value-returned", "atomics", "RDMAPX-5.1.1-01 RDMAPX-5.1.2-03 RDMAPX-5.2.2-03",
       "An atomic returns the new value.", "return old;", "return rdmap::apply(op, old);")
memory("write-reordered", "Write", "DDP-4.2-11 RDMAP-5.1-05 DDP-5.2-05 DDP-5.1.1-01",
       "The octets of a Write are placed one octet too late.",
       "place_last_octet_last(*to, payload);", "place_last_octet_last(*to + (payload.size() > 1 ? 1 : 0), "
       "payload.first(payload.size() > 1 ? payload.size() - 1 : 1));")
memory("write-thrown-away", "Write", "DDP-5.2-05 DDP-4.1-03 RDMAP-5.1-05 DDP-5.1.1-01 RDMAP-5.5-14 RDMAP-B-06",
       "A Write is accepted, and no octet placed.",
       "place_last_octet_last(*to, payload);", "")

post = TABLE.file("verbs/stream/link_post.cpp")
post("write-to-another-offset", "Write", "RDMAP-3.1-04 DDP-4.2-11 RDMAP-5.1-05 DDP-4.2-08",
     "RDMA goes eight octets after where the application says.",
     "request.remote_address", "request.remote_address + 8")
post("send-without-invalidate", SEND, "RDMAP-5.3-12 RDMAP-4.1-11 RDMAP-4.1-05 RDMAP-4.1-03",
     "A Send with Invalidate is sent as a plain one.",
     "if (request.opcode == SendOpcode::kSendWithInvalidate) work.invalidate = ddp::Stag{request.invalidate_rkey};", "")
stream = TABLE.file("verbs/stream/link.cpp")
stream("crc-off-by-default", "CRC", "MPA-4.4-05 MPA-4.4-04 MPA-4.1-08 MPA-7.1.1-11", "Connections ask for no CRC unless told to.",
       "policy.startup.crc", "false")
events = TABLE.file("verbs/stream/link_events.cpp")
events("fin-unanswered", "close", "RDMAP-6.2-02 DDP-6.2.1-07 DDP-3-13 MPA-7.2-01 RDMAP-7-04", "The peer's FIN is not answered.",
       "link_.close(now_);", "", near='the peer closed the connection");\n  link_.close(now_);')
events("completion-without-length", SEND, "RDMAP-5.3-03 DDP-5.4-05", "The application is told that each message has no octet.",
       "static_cast<std::uint32_t>(std::min(event.length, kMostOctets))", "0U")
events("process-dies-of-errors", "resources", "SEC-6.4.3.1-04 RDMAP-6.2.1-01 RDMAP-7.1-03 RDMAP-7.1-04 RDMAP-3.2-04 RDMAP-3.2-06",
       "The first protocol error ends the process.",
       "report_error(to_stream_error(report, false), kind_of_request_error(report));", "std::abort();")
