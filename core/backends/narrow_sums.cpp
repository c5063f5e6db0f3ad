#include "core/backends/narrow_sums.h"

#include "core/backends/reference/reference_backend.h"

namespace halftone::backends {
namespace {

using kernels::Operation;
using tensor::DType;

/// The reference kernels whose sums go through their matrix product.
bool isProduct(const ops::Operator &op)
{
    return op.is<ops::Conv>() || op.is<ops::ConvTranspose>() || op.is<ops::DeformConv>()
        || op.is<ops::FullyConnected>() || op.is<ops::MatMul>() || op.is<ops::Gemm>()
        || op.is<ops::AttentionProduct>() || op.is<ops::Attention>() || op.is<ops::Recurrence>();
}

class NarrowSums final : public kernels::Backend
{
public:
    NarrowSums(DType accumulator, unsigned threads)
        : m_accumulator(accumulator)
        , m_reference(reference::referenceBackend({threads, false}))
    {
    }

    std::string_view name() const override { return m_reference->name(); }
    kernels::Support support(DType type) const override { return m_reference->support(type); }

    Result<std::unique_ptr<kernels::Kernel>> prepare(const Operation &operation) const override
    {
        if (!isProduct(operation.op) || operation.inputs.empty()
            || !tensor::isHalf(operation.inputs[0].dtype))
            return unsupported({}, "no product of 16-bit values");
        Operation narrow = operation;
        narrow.accumulator = m_accumulator;
        return m_reference->prepare(narrow);
    }

private:
    DType m_accumulator;
    std::shared_ptr<const kernels::Backend> m_reference;
};

} // namespace

std::shared_ptr<const kernels::Backend> narrowSums(DType accumulator, unsigned threads)
{
    return std::make_shared<const NarrowSums>(accumulator, threads);
}

} // namespace halftone::backends
