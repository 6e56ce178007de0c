// SPDX-License-Identifier: Apache-2.0
// Clause tests: each test case carries, as tags, the ids of the clauses that it would catch being broken, and their
// section.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
