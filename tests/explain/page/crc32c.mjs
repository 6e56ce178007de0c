// SPDX-License-Identifier: Apache-2.0
// CRC32C, bit by bit: an own reading of RFC 3720 appendix B.4, so that no test believes the page's.

export function crc32c(octets) {
  let crc = 0xffffffff;
  for (const octet of octets) {
    crc ^= octet;
    for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
