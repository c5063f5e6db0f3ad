#pragma once

#include "app/cli/output.h"
#include "core/graph/model.h"

#include <string>

namespace halftone::cli {

/// A line for each format: "uint4/32: 3,072 weights in 1 matrix, 5.13 bits each".
std::vector<std::string> weightLines(const graph::Model &model);

} // namespace halftone::cli
