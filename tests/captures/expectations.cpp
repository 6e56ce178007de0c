// SPDX-License-Identifier: Apache-2.0
#include "tests/captures/expectations.hpp"

#include <algorithm>

namespace weft::captures {

// clang-format off
// name, revision, CRC, connections, FPDUs {Write, Read Request, Read Response, Send, with Inv, with SE, with SE and Inv, Terminate}
const std::vector<Expectation>& expectations() {
  static const std::vector<Expectation> table{
    {"01-rping", 2, false, 1, {3, 3, 3, 12, 0, 0, 0, 0}, {{0x00010001, 0x00010001}}, {}},
    {"03-write-bw-64k", 2, false, 2, {11, 0, 0, 32, 0, 0, 0, 0}, {{0x00000000, 0x00000000}}, {}, 2},
    {"04-write-bw-64k-mtu1500", 2, false, 2, {230, 0, 0, 32, 0, 0, 0, 0}, {{0x00000000, 0x00000000}}, {}, 2},
    {"05-send-lat", 2, false, 2, {0, 0, 0, 42, 0, 0, 0, 0}, {{0x00000000, 0x00000000}}, {}, 2},
    {"06-read-bw-32k", 2, false, 2, {0, 5, 10, 32, 0, 0, 0, 0}, {{0x00000000, 0x00000000}, {0x00800080, 0x00800080}}, {}, 2},
    {"08-write-1m", 2, false, 1, {18, 0, 0, 0, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"09-write-256k-mtu1500", 2, false, 1, {184, 0, 0, 0, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"10-zero-length", 2, false, 1, {1, 1, 1, 1, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"11-send-flavours", 2, false, 1, {0, 0, 0, 1, 0, 2, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"12-send-inv", 2, false, 1, {1, 0, 0, 0, 1, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"13-send-se-inv", 2, false, 1, {1, 0, 0, 0, 0, 0, 1, 0}, {{0x00040004, 0x00040004}}, {}},
    {"15-multi-sge-send-mtu1500", 2, false, 1, {0, 0, 0, 30, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"16-odd-lengths", 2, false, 6, {6, 0, 0, 6, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}, 2},
    {"20-term-write-bad-stag", 2, false, 1, {1, 0, 0, 0, 0, 0, 0, 1}, {{0x00040004, 0x00040004}}, {{1, 1, 0x00}}},
    {"21-term-read-bad-stag", 2, false, 1, {0, 1, 0, 0, 0, 0, 0, 1}, {{0x00040004, 0x00040004}}, {{0, 1, 0x00}}},
    {"22-term-write-bounds", 2, false, 1, {1, 0, 0, 0, 0, 0, 0, 1}, {{0x00040004, 0x00040004}}, {{1, 1, 0x01}}},
    {"23-term-read-bounds", 2, false, 1, {0, 1, 0, 0, 0, 0, 0, 1}, {{0x00040004, 0x00040004}}, {{0, 1, 0x01}}},
    {"24-term-send-no-buffer", 2, false, 1, {0, 0, 0, 1, 0, 0, 0, 1}, {{0x00040004, 0x00040004}}, {{1, 2, 0x02}}},
    {"26-term-send-inv-bad-stag", 2, false, 1, {0, 0, 0, 0, 1, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"30-reject", 2, false, 1, {0, 0, 0, 0, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"31-privdata", 2, false, 1, {0, 1, 1, 0, 0, 0, 0, 0}, {{0x00070009, 0x00090007}}, {}},
    {"32-refused-no-mpa", 0, false, 0, {0, 0, 0, 0, 0, 0, 0, 0}, {}, {}},
    {"40-crc-rping", 2, true, 1, {3, 3, 3, 12, 0, 0, 0, 0}, {{0x00010001, 0x00010001}}, {}},
    {"41-crc-write-bw-64k", 2, true, 2, {11, 0, 0, 32, 0, 0, 0, 0}, {{0x00000000, 0x00000000}}, {}, 2},
    {"43-crc-odd-lengths", 2, true, 6, {6, 0, 0, 6, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}, 2},
    {"44-crc-zero-length", 2, true, 1, {1, 1, 1, 1, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"46-crc-term-write-bad-stag", 2, true, 1, {1, 0, 0, 0, 0, 0, 0, 1}, {{0x00040004, 0x00040004}}, {{1, 1, 0x00}}},
    {"49-mpa-v1-rping-fails", 1, false, 1, {0, 0, 0, 1, 0, 0, 0, 0}, {}, {}},
    {"50-mpa-v1", 1, false, 1, {1, 1, 1, 1, 0, 0, 0, 0}, {}, {}},
    {"51-mpa-v1-crc", 1, true, 1, {1, 1, 1, 1, 0, 0, 0, 0}, {}, {}},
    {"53-p2p-rtr-write", 2, false, 1, {2, 0, 0, 0, 0, 0, 0, 0}, {{0x8004c004, 0x80048004}}, {}},
    {"54-p2p-rtr-read", 2, false, 1, {1, 1, 1, 0, 0, 0, 0, 0}, {{0x80044004, 0x80044004}}, {}},
    {"56-gso-mtu1500", 2, false, 1, {5, 0, 0, 0, 0, 0, 0, 0}, {{0x00040004, 0x00040004}}, {}},
    {"60-nvme-rdma", 2, false, 2, {15, 3, 3, 43, 18, 0, 0, 0}, {{0x00800000, 0x00000080}}, {}},
    {"61-nvme-rdma-crc-mtu1500", 2, true, 2, {67, 3, 25, 43, 18, 0, 0, 0}, {{0x00800000, 0x00000080}}, {}},
    {"70-nfs3-rdma", 2, false, 1, {7, 0, 0, 72, 2, 0, 0, 0}, {{0x00800000, 0x00000080}}, {}},
    {"71-nfs3-rdma-chunks", 2, false, 1, {10, 2, 4, 62, 6, 0, 0, 0}, {{0x00800000, 0x00000080}}, {}},
    {"72-nfs4-rdma", 2, false, 1, {13, 1, 1, 94, 12, 0, 0, 0}, {{0x00800000, 0x00000080}}, {}},
    {"75-nfs40-rdma", 2, false, 1, {11, 1, 1, 94, 10, 0, 0, 0}, {{0x00800000, 0x00000080}}, {}},
    {"76-nfs4-rdma-crc", 2, true, 1, {13, 1, 1, 94, 12, 0, 0, 0}, {{0x00800000, 0x00000080}}, {}},
  };
  return table;
}
// clang-format on

std::string sample_path(std::string_view name) {
  return std::string(WEFT_PCAP_SAMPLES "/").append(name).append(".pcap");
}

std::string test_name(const Expectation& expectation) {
  std::string name(expectation.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace weft::captures
