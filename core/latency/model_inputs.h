#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"
#include "core/tensor/tensor.h"

#include <string>
#include <unordered_map>

/// Inputs for timing. Floats may have any value; integers determine positions in tables, branches and counts, so that they are taken from an
/// example, otherwise chosen such that their consumers accept them.
namespace halftone::latency {

/// Arrays of an example by the name of their variable; may be incomplete and have other types and batch sizes.
using GivenInputs = std::unordered_map<std::string, tensor::Tensor>;

/// Stores the arrays in the model, converted to the types and shapes of their variables and repeated if these are larger.
/// Needs: types and shapes of the data. fails: NoMemory
Result<void> takeInputs(infer::TypedModel &typed, const GivenInputs &given);

/// How to choose integers that are not given.
enum class Guess
{
    Legal, ///< valid for the operators that read them (positions in a table, classes, lengths), otherwise 1
    Zeros
};

/// The value of a variable. Floats are in [0, 1), like pictures. fails: NoMemory
Result<tensor::Tensor> guessedInput(const infer::TypedModel &typed, graph::NodeId variable, Guess guess);

/// Writes the inputs of a plan: the stored arrays, otherwise fillInputs(), or guessed integers; zeros if the plan rejects legal ones, which is
/// found by running it once. fails: other errors of that run
Result<void> feedPlan(kernels::LatencyPlan &plan, const infer::TypedModel &typed);

} // namespace halftone::latency
