// SPDX-License-Identifier: Apache-2.0
// A library that is called libuct_ib.so: what it asks of libibverbs, UCX asks.
#include <infiniband/verbs.h>

extern "C" __attribute__((visibility("default"))) int modify_as_uct(ibv_qp* qp, ibv_qp_attr* attributes, int mask);

int modify_as_uct(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  const volatile int answer = ibv_modify_qp(qp, attributes, mask);  // not the last thing: else it has another caller
  return answer;
}
