// SPDX-License-Identifier: Apache-2.0
// The reports are about what the room probe/ found, so its names are theirs.
#pragma once

namespace weft::probe {}
namespace weft::tools::probing {
using namespace weft::probe;
}
