// SPDX-License-Identifier: Apache-2.0
// A program for `weft run` to run; linked in several ways (tests/tools/CMakeLists.txt).
#include <cstdio>

#ifdef WITH_VERBS
extern "C" int ibv_create_qp() { return 0; }  // as if libibverbs.a were in it
#else
static int ibv_create_nothing() { return 0; }
#define ibv_create_qp ibv_create_nothing
#endif

int main() {
  std::puts("it ran");
  return ibv_create_qp();
}
