// SPDX-License-Identifier: Apache-2.0
// Static rates as a multiple of 2.5 Gbit/s, and in Mbit/s of a link (ibv_rate_to_mult(3)).
#include <array>
#include <cstdint>

#include "compat/entry.hpp"
#include "compat/objects/context.hpp"
#include "compat/objects/enums.hpp"

namespace {

struct Rate {
  std::int64_t rate;  // an ibv_rate
  int multiple;       // 0: not a whole one
  int mbps;
};

constexpr std::array kRates{
    Rate{IBV_RATE_2_5_GBPS, 1, 2500},     Rate{IBV_RATE_5_GBPS, 2, 5000},         Rate{IBV_RATE_10_GBPS, 4, 10000},
    Rate{IBV_RATE_20_GBPS, 8, 20000},     Rate{IBV_RATE_30_GBPS, 12, 30000},      Rate{IBV_RATE_40_GBPS, 16, 40000},
    Rate{IBV_RATE_60_GBPS, 24, 60000},    Rate{IBV_RATE_80_GBPS, 32, 80000},      Rate{IBV_RATE_120_GBPS, 48, 120000},
    Rate{IBV_RATE_14_GBPS, 0, 14062},     Rate{IBV_RATE_56_GBPS, 0, 56250},       Rate{IBV_RATE_112_GBPS, 0, 112500},
    Rate{IBV_RATE_168_GBPS, 0, 168750},   Rate{IBV_RATE_25_GBPS, 0, 25781},       Rate{IBV_RATE_100_GBPS, 0, 103125},
    Rate{IBV_RATE_200_GBPS, 0, 206250},   Rate{IBV_RATE_300_GBPS, 0, 309375},     Rate{IBV_RATE_28_GBPS, 11, 28125},
    Rate{IBV_RATE_50_GBPS, 20, 53125},    Rate{IBV_RATE_400_GBPS, 160, 425000},   Rate{IBV_RATE_600_GBPS, 240, 637500},
    Rate{IBV_RATE_800_GBPS, 320, 850000}, Rate{IBV_RATE_1200_GBPS, 480, 1275000},
};

constexpr std::int64_t kNoRate = IBV_RATE_MAX;

// The other members of the entry whose `key` is `value`, or what stands for "none".
template <typename Value, typename Answer>
Answer look_up(Value Rate::* key, Value value, Answer Rate::* answer, Answer none) {
  for (const Rate& entry : kRates) {
    if (entry.*key == value && value != Value{}) return entry.*answer != Answer{} ? entry.*answer : none;
  }
  return none;
}

}  // namespace

WEFT_ENTRY int ibv_rate_to_mult(ibv_rate rate) {
  return look_up(&Rate::rate, weft::compat::number(rate), &Rate::multiple, -1);
}
WEFT_ENTRY ibv_rate mult_to_ibv_rate(int mult) {
  return static_cast<ibv_rate>(look_up(&Rate::multiple, mult, &Rate::rate, kNoRate));
}
WEFT_ENTRY int ibv_rate_to_mbps(ibv_rate rate) {
  return look_up(&Rate::rate, weft::compat::number(rate), &Rate::mbps, -1);
}
WEFT_ENTRY ibv_rate mbps_to_ibv_rate(int mbps) {
  return static_cast<ibv_rate>(look_up(&Rate::mbps, mbps, &Rate::rate, kNoRate));
}
