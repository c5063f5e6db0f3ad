#pragma once

#include "core/backends/cuda/product.h"
#include "core/backends/cuda/toolkit/dnn_calls.h"

namespace halftone::backends::cuda {

/// Operations over tensors as cuDNN has them described. Tensors that are fed are numbered in the order in which they were added.
class DnnGraph
{
public:
    explicit DnnGraph(const DnnCalls &calls)
        : m_calls(calls)
    {
    }

    using TensorId = std::size_t;
    /// One that is fed to the plan.
    Result<TensorId> addTensor(const View &view);
    /// One that lives within the graph.
    Result<TensorId> addInner(const View &view, cudnnDataType_t type = CUDNN_DATA_FLOAT);

    Result<void> addConvolution(const ProductDesc &desc, TensorId data, TensorId weight, TensorId result);
    struct Function
    {
        cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
        std::optional<double> ceiling{}; ///< of ReLU
    };
    /// second  nothing for a function of one tensor
    Result<void> addPointwise(const Function &function, TensorId first, std::optional<TensorId> second,
                              TensorId result);
    Result<void> addProduct(TensorId first, TensorId second, TensorId result);
    Result<void> addReduction(cudnnReduceTensorOp_t op, TensorId from, TensorId result);

    std::vector<cudnnBackendDescriptor_t> operations() const;
    const std::vector<std::int64_t> &ids() const { return m_ids; } ///< of the tensors that are fed

private:
    Result<TensorId> add(const View &view, cudnnDataType_t type, bool isVirtual);

    const DnnCalls &m_calls;
    std::vector<Descriptor> m_tensors;
    std::vector<Descriptor> m_parts; ///< what operations refer to
    std::vector<Descriptor> m_operations;
    std::vector<std::int64_t> m_ids;
};

/// A convolution with what stands behind it; tensors that are fed in the order of a Product's arguments.
/// returns  its name. fails: Unsupported for what cuDNN does not take
Result<std::string> describeConvolution(DnnGraph &graph, const ProductDesc &desc);
/// A product of matrices, likewise.
Result<std::string> describeProduct(DnnGraph &graph, const ProductDesc &desc);

} // namespace halftone::backends::cuda
