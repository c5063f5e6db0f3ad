#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/typed_model.h"
#include "core/interpret/interpreter.h"

namespace halftone::latency {

/// Are there operators that only values of inputs tell (ONNX: the shape that Reshape gives, the channels of a Conv), or outputs
/// whose shape or type is open though those of all data are known?
bool needsTrace(const infer::TypedModel &typed);

/// Goes through the model once and notes in it what each node was: operator, types and shapes of its outputs, and
/// the outputs of those that hang on nothing that is fed but its shapes, so that a plan has them as constants. Where an operator or a size
/// hangs on values (NonZero), the model is run for that on what it is fed, or on guessed inputs (guessedInput()), and the sizes are those of this run.
/// Needs: shapes and types of all data in `typed`.
/// fails: BadInput where they are open (where = the input); as Interpreter::run()
/// limits  beyond which nothing is run for shapes
Result<void> trace(infer::TypedModel &typed, const Progress &progress = {},
                   const interpret::RunLimits &limits = {});

} // namespace halftone::latency
