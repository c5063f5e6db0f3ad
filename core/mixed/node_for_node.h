#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/variables.h"
#include "core/policy/assignment.h"
#include "core/rewrite/conversion.h"

#include <span>

namespace halftone::mixed {

struct NodeForNodeSettings
{
    tensor::DType target = tensor::DType::F16; ///< F16 or BF16
    /// Store parameters in the target type where all their readers want that (cast_optional_params).
    bool castParams = false;
};

/// Mixed-precision conversion node for node as MXNet 1.9.1's convert_symbol and convert_model emit it
/// (core/mixed/RULES.md, section 2), with the defects of its section 5 mended. Linear in nodes and edges; nodes that
/// no head needs are left out, as MXNet does.
///
/// needs  a decision in `assignment` and an entry in `variables` for every node of `source`
/// keeps  names, attributes, relative order and subgraphs of the nodes; `__dtype__` of a parameter says how it is to
///        be stored
/// mends  a neutral operator is believed to compute in the type of the value that it really reads (D-neutral-belief);
///        mixed inputs are widened (D-neutral-mixed); where its type rule refuses 16 bit it falls back to float32
///        with a note (D-neutral-throws); a parameter changes its storage type only with castParams, and only when no
///        reader wants float32 (D-silent-param-cast, D-shared-param); integer data stay uncast (D-int-inputs)
/// fails  BadInput for a target operator whose type rule refuses the target type, a widest operator without inputs or
///        with mutable ones, and a type contradiction (of a source that is ill-typed itself); Cancelled
Result<rewrite::Conversion> convertNodeForNode(const graph::Graph &source,
                                               const policy::Assignment &assignment,
                                               std::span<const infer::Variable> variables,
                                               const NodeForNodeSettings &settings,
                                               const Progress &progress = {});

} // namespace halftone::mixed
