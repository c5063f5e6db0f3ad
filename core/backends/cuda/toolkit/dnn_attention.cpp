#include "core/backends/cuda/toolkit/dnn_attention.h"

#include <utility>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

/// The same with its last two axes swapped.
View lastSwapped(View view)
{
    std::swap(view.dims[2], view.dims[3]);
    std::swap(view.strides[2], view.strides[3]);
    return view;
}

View dense(DType type, const Dims &dims)
{
    return viewOf({type, tensor::Shape(dims)});
}

/// The parts of one attention, added one after the other; `scores` are those of the last step.
class AttentionGraph
{
public:
    AttentionGraph(DnnGraph &graph, const AttentionDesc &desc)
        : m_graph(graph)
        , m_desc(desc)
        , m_square(desc.queries.dims)
        , m_line(desc.queries.dims)
    {
        m_square[3] = desc.keys.dims[2];
        m_line[3] = 1;
    }

    Result<void> describe()
    {
        HALFTONE_TRY(const Id queries, m_graph.addTensor(m_desc.queries));
        HALFTONE_TRY(const Id keys, m_graph.addTensor(lastSwapped(m_desc.keys)));
        HALFTONE_TRY(const Id values, m_graph.addTensor(m_desc.values));
        HALFTONE_TRY(Id scores, inner(m_square));
        HALFTONE_CHECK(m_graph.addProduct(queries, keys, scores));
        HALFTONE_TRY(const Id scale, // engines know it as a tensor, not as a number that is fed by value
                     m_graph.addTensor({DType::F32, Dims(4, 1), Dims(4, 1), 0}));
        HALFTONE_TRY(scores, function(CUDNN_POINTWISE_MUL, scores, scale, m_square));
        if (m_desc.mask) {
            HALFTONE_TRY(const Id mask, m_graph.addTensor(narrowed(*m_desc.mask)));
            HALFTONE_TRY(scores, function(CUDNN_POINTWISE_ADD, scores, mask, m_square));
        }
        HALFTONE_TRY(const Id weights, softmax(scores));
        HALFTONE_TRY(const Id result, m_graph.addTensor(m_desc.result));
        return m_graph.addProduct(weights, values, result);
    }

private:
    using Id = DnnGraph::TensorId;

    Result<Id> inner(const Dims &dims, cudnnDataType_t type = CUDNN_DATA_FLOAT)
    {
        return m_graph.addInner(dense(DType::F32, dims), type);
    }

    Result<Id> function(cudnnPointwiseMode_t mode, Id first, std::optional<Id> second, const Dims &dims)
    {
        HALFTONE_TRY(const Id result, inner(dims));
        HALFTONE_CHECK(m_graph.addPointwise({mode}, first, second, result));
        return result;
    }

    Result<Id> reduced(cudnnReduceTensorOp_t op, Id from)
    {
        HALFTONE_TRY(const Id result, inner(m_line));
        HALFTONE_CHECK(m_graph.addReduction(op, from, result));
        return result;
    }

    /// A mask that repeats has extents of 1 there.
    static View narrowed(View mask)
    {
        for (std::size_t axis = 0; axis < mask.dims.size(); ++axis)
            if (mask.strides[axis] == 0)
                mask.dims[axis] = 1;
        std::int64_t stride = 1;
        for (std::size_t axis = mask.dims.size(); axis-- > 0;) {
            if (mask.dims[axis] == 1)
                mask.strides[axis] = stride;
            stride = mask.strides[axis] * mask.dims[axis];
        }
        return mask;
    }

    Result<Id> softmax(Id scores)
    {
        HALFTONE_TRY(const Id most, reduced(CUDNN_REDUCE_TENSOR_MAX, scores));
        HALFTONE_TRY(const Id below, function(CUDNN_POINTWISE_SUB, scores, most, m_square));
        HALFTONE_TRY(const Id powers, function(CUDNN_POINTWISE_EXP, below, std::nullopt, m_square));
        HALFTONE_TRY(const Id sum, reduced(CUDNN_REDUCE_TENSOR_ADD, powers));
        HALFTONE_TRY(const Id weights, // in the type that tensor cores take
                     inner(m_square, *dnnType(m_desc.values.dtype)));
        HALFTONE_CHECK(m_graph.addPointwise({CUDNN_POINTWISE_DIV}, powers, sum, weights));
        return weights;
    }

    DnnGraph &m_graph;
    const AttentionDesc &m_desc;
    Dims m_square; ///< (N, heads, queries, keys)
    Dims m_line; ///< (N, heads, queries, 1)
};

} // namespace

Result<std::string> describeAttention(DnnGraph &graph, const AttentionDesc &desc)
{
    const DType type = desc.queries.dtype;
    if (!tensor::isHalf(type) || desc.keys.dtype != type || desc.values.dtype != type
        || desc.result.dtype != type || desc.queries.dims.size() != 4)
        return unsupported("cuda", "cuDNN's attention takes float16 or bfloat16");
    HALFTONE_CHECK(AttentionGraph(graph, desc).describe());
    return std::string("cuDNN attention") + (desc.mask ? " + mask" : "");
}

} // namespace halftone::backends::cuda
