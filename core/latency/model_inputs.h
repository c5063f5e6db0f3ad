#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"
#include "core/tensor/tensor.h"

#include <string>
#include <unordered_map>

/// What a model is fed to be timed. Floats may be any; integers decide where tables are read, which branch is taken and how many there are of
/// something, so that they are an example's where there is one, and else what their readers take.
namespace halftone::latency {

/// Arrays of an example by the name of the variable that they feed; may lack some, and be of other types and batches.
using GivenInputs = std::unordered_map<std::string, tensor::Tensor>;

/// Notes in the model what it is fed: the arrays in the types and shapes of their variables, over and over where these have more elements.
/// Needs: types and shapes of the data. fails: NoMemory
Result<void> takeInputs(infer::TypedModel &typed, const GivenInputs &given);

/// Integers that nobody has given.
enum class Guess
{
    Legal, ///< what the operators that read them take: places in a table, classes, lengths; else 1
    Zeros
};

/// For a variable of the model. Floats: numbers of [0, 1), as pictures are. fails: NoMemory
Result<tensor::Tensor> guessedInput(const infer::TypedModel &typed, graph::NodeId variable, Guess guess);

/// Writes a plan's inputs: what the model is fed, else fillInputs(), or integers by a guess; where the plan refuses legal ones as values, zeros.
/// Such a plan is run once for that. fails: what else the run refuses
Result<void> feedPlan(kernels::LatencyPlan &plan, const infer::TypedModel &typed);

} // namespace halftone::latency
