#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"

#include <vector>

namespace halftone::infer {

/// What a variable of a graph stands for and in which type it comes.
struct Variable
{
    bool isData = false; ///< fed on every run; the others are parameters
    tensor::DType type = tensor::DType::F32; ///< of the data as fed, or of the parameter as stored
    bool isAssumed = true; ///< nothing says the type: float32 is a guess
};

/// By NodeId (entries of other nodes are unused).
///
/// Data are: data_names when the policy gives them; else the variables that the parameters do not hold (api
/// convert_model, the default when there are parameters), or those without `__dtype__` (convert_symbol). Types: the
/// policy's input_dtypes, else the stored array, else `__dtype__`, else float32. Integer data keep their type (defect
/// D-int-inputs of the reference).
///
/// warns  of names in data_names and input_dtypes that are no variable, with near names
/// fails  BadInput for a malformed `__dtype__`
Result<std::vector<Variable>> classifyVariables(const graph::Model &model, const policy::Policy &policy,
                                                std::vector<policy::Warning> &warnings);

} // namespace halftone::infer
