#pragma once

#include "core/base/result.h"
#include "core/mixed/typed_builder.h"
#include "core/mixed/typed_plan.h"
#include "core/tensor/form_cache.h"

#include <vector>

/// Constants that nodes hold themselves (a Constant of ONNX, an initializer of a body): exporters write whole weights so, and
/// they are stored in another type as parameters are.
namespace halftone::mixed {

/// By NodeId: a node that holds float32.
std::vector<bool> realConstants(const graph::Graph &source);

struct ConstantForms
{
    NewBodies definitions; ///< of the nodes that hold their values in another type now, or other values
    std::vector<rewrite::StoredParameter>
        stored; ///< also of those that hold another value in their own type (M-bounds)
};

/// stored    by NodeId, as TypedBuilder has it
/// narrowed  by NodeId: the 16-bit type that a cast makes of a node's value; Unknown: none does
/// clamps, forms  as castParams() has them; forms may be null
/// fails: what tensor::castTo refuses (where = the node's name)
Result<ConstantForms> castConstants(const graph::Graph &source, const TypedPlan &plan,
                                    const std::vector<tensor::DType> &stored,
                                    const std::vector<tensor::DType> &narrowed, bool clamps,
                                    tensor::FormCache *forms);

} // namespace halftone::mixed
