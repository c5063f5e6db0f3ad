#include "core/runtime/reference/reference_backend.h"

#include "core/ops/infer_shape.h"
#include "core/runtime/reference/elements.h"
#include "core/runtime/reference/kernels.h"
#include "core/runtime/reference/quantized.h"

#include <algorithm>
#include <utility>

namespace halftone::runtime {
namespace {

using namespace reference;
using tensor::DType;

template <class Op, class Real>
concept Computes = requires(const Op &op, const Arrays<Real> &arrays)
{
    compute(op, arrays);
};
template <class Op>
concept Moves = requires(const Op &op, const RawArrays &arrays)
{
    move(op, arrays);
};

bool needsDouble(const Operation &operation)
{
    const auto isWide = [](const TensorDesc &desc) {
        return desc.dtype == DType::F64 || desc.dtype == DType::I32 || desc.dtype == DType::U32
            || desc.dtype == DType::I64 || desc.dtype == DType::U64;
    };
    return std::ranges::any_of(operation.inputs, isWide) || std::ranges::any_of(operation.outputs, isWide);
}

template <class Real>
constexpr DType kTypeOf = sizeof(Real) == sizeof(float) ? DType::F32 : DType::F64;

std::size_t elementsOf(const TensorDesc &desc)
{
    return count(desc.shape.dims());
}

class ReferenceKernel : public Kernel
{
public:
    ReferenceKernel(Operation operation, unsigned threads)
        : m_operation(std::move(operation))
        , m_workers(threads)
    {
    }

    std::string name() const override { return "reference"; }
    void setStop(std::stop_token stop) override { m_workers.setStop(std::move(stop)); }

protected:
    Operation m_operation;
    Workers m_workers;
};

/// Widens the inputs that are not Real already, and rounds the outputs.
template <class Op, class Real>
class ComputingKernel final : public ReferenceKernel
{
public:
    using ReferenceKernel::ReferenceKernel;

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        Arrays<Real> arrays{m_operation, m_workers, {}, {}};
        std::vector<std::vector<Real>> wide(inputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i)
            arrays.in.push_back(widened(m_operation.inputs[i], inputs[i], wide[i]));
        std::vector<std::vector<Real>> results(outputs.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const TensorDesc &desc = m_operation.outputs[i];
            const bool direct = desc.dtype == kTypeOf<Real>;
            if (outputs[i] && !direct)
                results[i].resize(elementsOf(desc));
            arrays.out.push_back(direct || !outputs[i] ? reinterpret_cast<Real *>(outputs[i])
                                                       : results[i].data());
        }
        HALFTONE_CHECK(compute(m_operation.op.as<Op>(), arrays));
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] && m_operation.outputs[i].dtype != kTypeOf<Real>)
                narrow(results[i].data(), results[i].size(), m_operation.outputs[i].dtype, outputs[i]);
        }
        return {};
    }

private:
    static const Real *widened(const TensorDesc &desc, const std::byte *bytes, std::vector<Real> &buffer)
    {
        if (desc.dtype == kTypeOf<Real>)
            return reinterpret_cast<const Real *>(bytes);
        buffer.resize(elementsOf(desc));
        widen(desc.dtype, bytes, buffer.size(), buffer.data());
        return buffer.data();
    }
};

template <class Op>
class MovingKernel final : public ReferenceKernel
{
public:
    using ReferenceKernel::ReferenceKernel;

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        return move(m_operation.op.as<Op>(), RawArrays{m_operation, inputs, outputs});
    }
};

Error atOperator(const Operation &operation, Error error)
{
    error.found = operation.opName + ": " + error.found;
    return error;
}

/// Kernels trust their operation; what cannot be trusted is refused here.
Result<void> check(const Operation &operation)
{
    std::vector<tensor::Shape> inputs;
    std::vector<tensor::Shape> outputs;
    for (const auto &[from, to] :
         {std::pair(&operation.inputs, &inputs), std::pair(&operation.outputs, &outputs)}) {
        for (const TensorDesc &desc : *from) {
            if (desc.dtype == DType::Unknown || !desc.shape.elementCount())
                return badCall({},
                               operation.opName + " with a " + std::string(tensor::nameOf(desc.dtype))
                                   + " tensor of shape " + desc.shape.toString(),
                               "known types and shapes");
            to->push_back(desc.shape);
        }
    }
    auto inferred = ops::inferShapes(operation.op, inputs, outputs);
    return inferred.ok() ? Result<void>() : Result<void>(atOperator(operation, std::move(inferred).error()));
}

class ReferenceBackend final : public Backend
{
public:
    explicit ReferenceBackend(const ReferenceOptions &options)
        : m_options(options)
    {
    }

    std::string_view name() const override { return "reference"; }
    Support support(DType type) const override
    {
        return type == DType::Unknown ? Support::No
            : tensor::isHalf(type)    ? Support::Emulated
                                      : Support::Native;
    }

    Result<std::unique_ptr<Kernel>> prepare(const Operation &operation) const override
    {
        HALFTONE_CHECK(check(operation));
        return ops::visit([&](const auto &op) { return prepareAs(op, operation); }, operation.op);
    }

private:
    template <class Op>
    Result<std::unique_ptr<Kernel>> prepareAs(const Op &, const Operation &operation) const
    {
        if constexpr (Computes<Op, float>) {
            if (m_options.inDouble || needsDouble(operation))
                return std::unique_ptr<Kernel>(
                    std::make_unique<ComputingKernel<Op, double>>(operation, m_options.threads));
            return std::unique_ptr<Kernel>(
                std::make_unique<ComputingKernel<Op, float>>(operation, m_options.threads));
        } else if constexpr (Moves<Op>) {
            return std::unique_ptr<Kernel>(std::make_unique<MovingKernel<Op>>(operation, m_options.threads));
        } else {
            return unsupported({}, operation.opName + " has no reference kernel");
        }
    }

    ReferenceOptions m_options;
};

} // namespace

std::shared_ptr<const Backend> referenceBackend(const ReferenceOptions &options)
{
    return std::make_shared<const ReferenceBackend>(options);
}

bool hasReferenceKernel(const ops::Operator &op)
{
    return ops::visit([]<class Op>(const Op &) { return Computes<Op, float> || Moves<Op>; }, op);
}

} // namespace halftone::runtime
