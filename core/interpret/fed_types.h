#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/tensor/dtype.h"

#include <string>

namespace halftone::interpret {

/// The type that the graph declares for the input of that name; Unknown where it declares none that values can have, and in formats that infer
/// types from what is fed.
tensor::DType declaredInputType(const graph::Graph &graph, const std::string &input);

/// fails: BadInput where an array of `type` is to be fed to an input that declares another type. Fed all the same, it would make
/// another network: types are inferred from what is fed.
Result<void> checkFedType(const graph::Graph &graph, const std::string &input, tensor::DType type);

} // namespace halftone::interpret
