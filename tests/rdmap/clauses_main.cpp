// SPDX-License-Identifier: Apache-2.0
// Clause tests: each is tagged with the clauses it would catch and the section of the RFC, so that
// `rdmap_clauses "[RFC5040-4.8]"` runs one section.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
