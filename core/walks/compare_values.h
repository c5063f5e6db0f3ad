#pragma once

#include "core/io/arrays/npz.h"
#include "core/walks/compare.h"

#include <span>

namespace halftone::walks {

/// Compares a model with values that another program gave for all examples, the reference, named as by valueNames() or sourceOutputNames().
/// Layers without a value are left out; values that match nothing are CompareOutcome::unmatched.
/// fails: as runModel(); BadInput if nothing matches
Result<CompareOutcome> compareValues(const graph::Model &model, const std::string &modelPath,
                                     std::span<const io::NamedTensor> values, const CompareOptions &options,
                                     const Progress &progress);

} // namespace halftone::walks
