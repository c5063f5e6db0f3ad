#include "core/backends/onednn/loops/row_attention.h"
#include "core/backends/onednn/lower.h"

#include <algorithm>

namespace halftone::backends::onednn {
namespace {

/// The mask's shape with axes of 1 in front.
std::array<std::int64_t, 4> maskShape(const tensor::Shape &shape)
{
    std::array<std::int64_t, 4> dims{1, 1, 1, 1};
    std::ranges::copy(shape.dims(), dims.end() - static_cast<std::ptrdiff_t>(shape.rank()));
    return dims;
}

} // namespace

Result<void> lowerRowAttention(Emitter &emitter, const plan::PlanNode &node, const ops::RowAttention &op)
{
    AttentionRows rows{.op = op};
    HALFTONE_TRY(rows.type, floatType(emitter, node.outputs[0]));
    std::vector<BufferId> buffers;
    for (std::size_t k = 0; k < 3; ++k) {
        HALFTONE_TRY(const Type type, floatType(emitter, node.inputs[k]));
        const Dims dims = dimsOf(emitter.desc(node.inputs[k]).shape);
        if (type != rows.type || dims.size() != 3)
            return unsupported("plan", "attention over tensors of several types");
        rows.batch = dims[0];
        (k == 0 ? rows.queries : rows.keys) = dims[1];
        rows.strides[k] = dims[2];
        HALFTONE_TRY(const Place place, emitter.readPlain(node.inputs[k]));
        buffers.push_back(place.buffer);
    }
    if (op.hasMask) {
        rows.mask = maskShape(emitter.desc(node.inputs[3]).shape);
        HALFTONE_CHECK(floatType(emitter, node.inputs[3]));
        HALFTONE_TRY(
            const Place mask,
            emitter.readAs(node.inputs[3], plainDesc(dimsOf(emitter.desc(node.inputs[3]).shape), Type::f32)));
        buffers.push_back(mask.buffer);
    }
    HALFTONE_TRY(auto kernel, rowAttentionKernel(rows, 0));
    emitter.addKernel(std::move(kernel), std::move(buffers), {emitter.writePlain(node.outputs[0]).buffer});
    return {};
}

} // namespace halftone::backends::onednn
