// SPDX-License-Identifier: Apache-2.0
// Clause tests: each is tagged with the clauses it would catch and the section of the RFC, so that
// `ddp_clauses "[RFC5041-4.1]"` runs one section.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
