#pragma once

#include "core/backends/onednn/int8_scales.h"

/// Fused products of codes: weights, scales and what follows the sums.
namespace halftone::backends::onednn {

/// Weights and scales of a node.
/// fails  Unsupported where weights or ranges are only known at run time
Result<Int8Product> int8ProductOf(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op);

/// How the sums are computed.
struct ProductForm
{
    dnnl::post_ops first; ///< what is done to them before all else
    bool isReal = false; ///< in float32: then an addend is read as float32 too, and not overwritten
};

/// Post-operations and scales.
struct Int8Attributes
{
    dnnl::primitive_attr attributes;
    Program::Arguments arguments;
    std::optional<Place> sum; ///< the result overwrites the addend
    double unit = 1; ///< reals that 1 stands for before the post-operations
    double resultUnit = 1; ///< and behind them
};

/// result   layout of what the primitive writes
/// sumStep  of the product
/// fails    Unsupported for an activation behind a sum that cannot be scaled
Result<Int8Attributes> int8AttributesOf(Emitter &emitter, const plan::PlanNode &node,
                                        const ops::FusedProduct &op, const Desc &result, double sumStep,
                                        const ProductForm &form = {});

/// In float32, whose sums of whole numbers are exact up to 2^24, for processors that add products of codes in 16 bits, which saturate:
/// products of more are computed in up to four parts.
/// fails  Unsupported where four do not suffice, or one does not and the result is the sums themselves
Result<void> lowerCodesAsReals(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op,
                               const Int8Product &product);

} // namespace halftone::backends::onednn
