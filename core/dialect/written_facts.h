#pragma once

#include "core/graph/graph.h"
#include "core/tensor/dtype.h"

#include <string>
#include <string_view>

/// What dialects write into attributes of nodes in the same way.
namespace halftone::dialect {

/// The type whose name the attribute `key` of a variable is; Unknown without one.
tensor::DType typeIn(const graph::NodeDef &variable, std::string_view key);

/// The variable with the name of `type` in the attribute `key`; `variable` itself if it has it.
graph::NodeDefPtr withTypeIn(const graph::NodeDefPtr &variable, std::string_view key, tensor::DType type);

/// Adds to a key of attributes what else makes nodes of one operator differ: hashes of the tensors that they hold, and the places of their inputs.
void addHeld(const graph::NodeDef &node, std::string &key);

} // namespace halftone::dialect
