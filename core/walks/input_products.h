#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/walks/calibrate.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halftone::walks {

/// A value whose rows are multiplied with each other.
struct ProductsOf
{
    graph::Entry entry;
    std::size_t features = 0; ///< of its last axis; all other axes count rows
};

/// Σ xᵀx over all rows of each value, features · features, the lower half alone, in double. Examples are computed one at a time and added in
/// order, so that neither options.batch nor threads matter. Rows with NaN or infinity are left out.
/// fails: as walkExamples(); BadInput for a value without rows of that many features
Result<std::vector<std::vector<double>>>
inputProducts(const graph::Model &model, const std::string &modelPath, std::span<const ProductsOf> wanted,
              const CalibrateOptions &options, const Progress &progress);

} // namespace halftone::walks
