#pragma once

#include "core/backends/onednn/lower.h"

#include <utility>

namespace halftone::backends::onednn {

/// A convolution, matrix or inner product as one step, whose result may have more axes than the product knows.
/// source, weights  in the descriptor's layouts
/// more             what it reads besides and `post` does not
template <class Primitive>
Result<void> addProduct(Emitter &emitter, const plan::PlanNode &node, const PostOps &post,
                        const typename Primitive::primitive_desc &descriptor, const Place &source,
                        const Place &weights, const Program::Arguments &more = {})
{
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), post.arguments.begin(), post.arguments.end());
    const Desc own = descriptor.dst_desc();
    const Dims dims = dimsOf(emitter.desc(node.outputs[0]).shape);
    Place result = resultPlace(emitter, node.outputs[0],
                               dims == own.get_dims() ? own : plainDesc(dims, own.get_data_type()), post);
    result.desc = own;
    arguments.emplace_back(DNNL_ARG_DST, result);
    HALFTONE_TRY(const Primitive primitive, attempt(node.members[0], [&] { return Primitive(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

} // namespace halftone::backends::onednn
