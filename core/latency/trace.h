#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/interpret/interpreter.h"

namespace halftone::latency {

/// Are there operators that depend on values of inputs (such as the target shape of Reshape), or outputs of unknown shape or type although
/// those of all data are known?
bool needsTrace(const infer::TypedModel &typed);

/// Runs through the model once and records the operator of each node, the types and shapes of its outputs, and the values of outputs that
/// depend only on the shapes of inputs, so that a plan has them as constants. If an operator or a size depends on values (NonZero), the model
/// runs on the given inputs, otherwise on guessed ones (guessedInput()), and the sizes are those of this run.
/// Needs: shapes and types of all data in `typed`.
/// limits  beyond which nothing is run to find shapes
/// fails: BadInput if types or shapes of data are unknown (where = the input); as Interpreter::run()
Result<void> trace(infer::TypedModel &typed, const Progress &progress = {},
                   const interpret::RunLimits &limits = {});

} // namespace halftone::latency
