#include "core/backends/cuda/toolkit/dnn_graph.h"

#include <algorithm>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

cudnnPointwiseMode_t modeOf(Activation activation)
{
    switch (activation) {
    case Activation::Relu:
        return CUDNN_POINTWISE_RELU_FWD;
    case Activation::GeluErf:
        return CUDNN_POINTWISE_GELU_FWD;
    case Activation::GeluTanh:
        return CUDNN_POINTWISE_GELU_APPROX_TANH_FWD;
    case Activation::Sigmoid:
        return CUDNN_POINTWISE_SIGMOID_FWD;
    case Activation::Tanh:
        return CUDNN_POINTWISE_TANH_FWD;
    case Activation::Swish:
        return CUDNN_POINTWISE_SWISH_FWD;
    case Activation::None:
        break;
    }
    return CUDNN_POINTWISE_IDENTITY;
}

/// cuDNN knows no tensors of three axes: a spatial axis of 1 is put behind the channels.
View withTwoSpatial(View view)
{
    if (view.dims.size() != 3)
        return view;
    view.dims.insert(view.dims.begin() + 2, 1);
    view.strides.insert(view.strides.begin() + 2, view.strides[2] * view.dims[3]);
    return view;
}

/// The same of a list by spatial axis.
Dims withTwoSpatial(Dims values, std::int64_t neutral)
{
    if (values.size() == 1)
        values.insert(values.begin(), neutral);
    return values;
}

/// One value a channel, as a tensor that repeats over `c`.
View channelVector(const View &c)
{
    View vector{c.dtype, Dims(c.dims.size(), 1), Dims(c.dims.size(), c.dims[1]), 0};
    vector.dims[1] = c.dims[1];
    vector.strides[1] = 1;
    return vector;
}

} // namespace

Result<DnnGraph::TensorId> DnnGraph::add(const View &view, cudnnDataType_t type, bool isVirtual)
{
    const std::int64_t id = static_cast<std::int64_t>(m_tensors.size()) + 1;
    Descriptor tensor(m_calls, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, view.dims)
        .set(CUDNN_ATTR_TENSOR_STRIDES, view.strides)
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 16)
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &isVirtual);
    HALFTONE_CHECK(tensor.finish());
    m_tensors.push_back(std::move(tensor));
    if (!isVirtual)
        m_ids.push_back(id);
    return m_tensors.size() - 1;
}

Result<DnnGraph::TensorId> DnnGraph::addTensor(const View &view)
{
    const auto type = dnnType(view.dtype);
    return type ? add(view, *type, false)
                : Result<TensorId>(unsupported("cuda", "cuDNN is not given this type"));
}

Result<DnnGraph::TensorId> DnnGraph::addInner(const View &view, cudnnDataType_t type)
{
    return add(view, type, true);
}

Result<void> DnnGraph::addConvolution(const ProductDesc &desc, TensorId data, TensorId weight,
                                      TensorId result)
{
    const cudnnDataType_t compute = desc.a.dtype == DType::I8 ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const Dims stride = withTwoSpatial(desc.stride, 1);
    Descriptor convolution(m_calls, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    convolution.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode)
        .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, withTwoSpatial(desc.dilate, 1))
        .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride)
        .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, withTwoSpatial(desc.padBegin, 0))
        .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, withTwoSpatial(desc.padEnd, 0))
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<std::int64_t>(stride.size()));
    HALFTONE_CHECK(convolution.finish());
    const float one = 1;
    const float zero = 0;
    Descriptor operation(m_calls, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, m_tensors[data])
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, m_tensors[weight])
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, m_tensors[result])
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    HALFTONE_CHECK(operation.finish());
    m_parts.push_back(std::move(convolution));
    m_operations.push_back(std::move(operation));
    return {};
}

Result<void> DnnGraph::addPointwise(const Function &function, TensorId first, std::optional<TensorId> second,
                                    TensorId result)
{
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    Descriptor pointwise(m_calls, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    pointwise.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &function.mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    if (function.ceiling)
        pointwise.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE, 1, &*function.ceiling);
    HALFTONE_CHECK(pointwise.finish());
    Descriptor operation(m_calls, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, m_tensors[first])
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, m_tensors[result]);
    if (second)
        operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, m_tensors[*second]);
    HALFTONE_CHECK(operation.finish());
    m_parts.push_back(std::move(pointwise));
    m_operations.push_back(std::move(operation));
    return {};
}

Result<void> DnnGraph::addProduct(TensorId first, TensorId second, TensorId result)
{
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    Descriptor product(m_calls, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    HALFTONE_CHECK(product.finish());
    Descriptor operation(m_calls, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, m_tensors[first])
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, m_tensors[second])
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, m_tensors[result])
        .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, product);
    HALFTONE_CHECK(operation.finish());
    m_parts.push_back(std::move(product));
    m_operations.push_back(std::move(operation));
    return {};
}

Result<void> DnnGraph::addReduction(cudnnReduceTensorOp_t op, TensorId from, TensorId result)
{
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    Descriptor reduction(m_calls, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &op)
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    HALFTONE_CHECK(reduction.finish());
    Descriptor operation(m_calls, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, m_tensors[from])
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, m_tensors[result])
        .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction);
    HALFTONE_CHECK(operation.finish());
    m_parts.push_back(std::move(reduction));
    m_operations.push_back(std::move(operation));
    return {};
}

std::vector<cudnnBackendDescriptor_t> DnnGraph::operations() const
{
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const Descriptor &operation : m_operations)
        handles.push_back(operation.handle());
    return handles;
}

namespace {

/// What is done to the result of a product, one tensor after the other; the last one is fed.
class Stages
{
public:
    Stages(DnnGraph &graph, View result)
        : m_graph(graph)
        , m_result(std::move(result))
    {
    }

    Result<void> add(const ProductDesc &desc, const std::optional<View> &bias,
                     const std::optional<View> &residual)
    {
        std::optional<DnnGraph::TensorId> biasId;
        if (bias) {
            HALFTONE_TRY(biasId, m_graph.addTensor(*bias));
            m_name += " + bias";
        }
        if (residual) { // before the bias: the order that precompiled engines know
            HALFTONE_TRY(const DnnGraph::TensorId operand, m_graph.addTensor(*residual));
            m_stages.push_back({{CUDNN_POINTWISE_ADD}, operand});
            m_name += " + residual";
        }
        if (biasId)
            m_stages.push_back({{CUDNN_POINTWISE_ADD}, biasId});
        if (desc.activation != Activation::None) {
            m_stages.push_back({{modeOf(desc.activation), desc.ceiling}, std::nullopt});
            m_name += " + activation";
        }
        HALFTONE_TRY(m_last, m_graph.addTensor(m_result));
        return {};
    }

    /// Where the product's own result goes.
    Result<DnnGraph::TensorId> first()
    {
        return m_stages.empty() ? Result<DnnGraph::TensorId>(m_last) : m_graph.addInner(m_result);
    }

    Result<void> addBehind(DnnGraph::TensorId current)
    {
        for (std::size_t k = 0; k < m_stages.size(); ++k) {
            DnnGraph::TensorId next = m_last;
            if (k + 1 < m_stages.size()) {
                HALFTONE_TRY(next, m_graph.addInner(m_result));
            }
            HALFTONE_CHECK(m_graph.addPointwise(m_stages[k].function, current, m_stages[k].operand, next));
            current = next;
        }
        return {};
    }

    const std::string &name() const { return m_name; } ///< " + bias + activation"

private:
    struct Stage
    {
        DnnGraph::Function function;
        std::optional<DnnGraph::TensorId> operand;
    };

    DnnGraph &m_graph;
    View m_result;
    std::vector<Stage> m_stages;
    DnnGraph::TensorId m_last = 0;
    std::string m_name;
};

/// (batch…, rows, columns) as (batch, rows, columns).
std::optional<View> matricesOf(const View &view, std::int64_t batch)
{
    const std::size_t rank = view.dims.size();
    return reshaped(view, Dims{batch, view.dims[rank - 2], view.dims[rank - 1]});
}

} // namespace

Result<std::string> describeConvolution(DnnGraph &graph, const ProductDesc &desc)
{
    const View c = withTwoSpatial(desc.c);
    HALFTONE_TRY(const DnnGraph::TensorId data, graph.addTensor(withTwoSpatial(desc.a)));
    HALFTONE_TRY(const DnnGraph::TensorId weight, graph.addTensor(withTwoSpatial(desc.b)));
    Stages stages(graph, c);
    HALFTONE_CHECK(stages.add(desc, desc.hasBias ? std::optional(channelVector(c)) : std::nullopt,
                              desc.residual ? std::optional(withTwoSpatial(*desc.residual)) : std::nullopt));
    HALFTONE_TRY(const DnnGraph::TensorId sums, stages.first());
    HALFTONE_CHECK(graph.addConvolution(desc, data, weight, sums));
    HALFTONE_CHECK(stages.addBehind(sums));
    return "cuDNN convolution" + stages.name();
}

Result<std::string> describeProduct(DnnGraph &graph, const ProductDesc &desc)
{
    const std::int64_t batch = countOf(std::span(desc.c.dims).first(desc.c.dims.size() - 2));
    const auto a = matricesOf(desc.a, batch);
    const auto b = matricesOf(desc.b, batch);
    const auto c = matricesOf(desc.c, batch);
    const auto residual = desc.residual ? matricesOf(*desc.residual, batch) : c;
    if (!a || !b || !c || !residual)
        return unsupported("cuda", "matrices that cuDNN cannot see in this layout");
    HALFTONE_TRY(const DnnGraph::TensorId first, graph.addTensor(*a));
    HALFTONE_TRY(const DnnGraph::TensorId second, graph.addTensor(*b));
    const std::int64_t columns = c->dims[2];
    const View bias{c->dtype, {1, 1, columns}, {columns, columns, 1}, 0};
    Stages stages(graph, *c);
    HALFTONE_CHECK(stages.add(desc, desc.hasBias ? std::optional(bias) : std::nullopt,
                              desc.residual ? residual : std::nullopt));
    HALFTONE_TRY(const DnnGraph::TensorId sums, stages.first());
    HALFTONE_CHECK(graph.addProduct(first, second, sums));
    HALFTONE_CHECK(stages.addBehind(sums));
    return "cuDNN product" + stages.name();
}

} // namespace halftone::backends::cuda
