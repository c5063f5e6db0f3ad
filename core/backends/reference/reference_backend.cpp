#include "core/backends/reference/reference_backend.h"

#include "core/backends/machine.h"
#include "core/backends/reference/integers.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/quantized.h"
#include "core/kernels/buffer.h"
#include "core/ops/infer_shape.h"
#include "core/ops/settle.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace halftone::backends::reference {
namespace {

using tensor::DType;

/// Whether compute() is there for int64, too.
template <class Op>
concept ComputesIntegers = std::is_same_v<Op, ops::Unary> || std::is_same_v<
    Op, ops::Binary> || std::is_same_v<Op, ops::ScalarBinary> || std::is_same_v<Op, ops::Reduce> || std::
    is_same_v<Op, ops::CumSum> || std::is_same_v<Op, ops::ArgReduce> || std::is_same_v<
        Op, ops::TopK> || std::is_same_v<Op, ops::Sort> || std::is_same_v<Op, ops::ArgSort>;
bool needsDouble(const kernels::Operation &operation)
{
    const bool isFunction = operation.op.is<ops::Unary>(); // of narrow integers, too
    const auto isWide = [isFunction](const kernels::TensorDesc &desc) {
        return desc.dtype == DType::F64 || desc.dtype == DType::I32 || desc.dtype == DType::U32
            || desc.dtype == DType::I64 || desc.dtype == DType::U64
            || (isFunction && desc.dtype != DType::Unknown && !tensor::isFloat(desc.dtype));
    };
    return std::ranges::any_of(operation.inputs, isWide) || std::ranges::any_of(operation.outputs, isWide);
}

bool areIntegers(const std::vector<kernels::TensorDesc> &descs)
{
    return std::ranges::all_of(descs, [](const kernels::TensorDesc &desc) {
        return desc.dtype != DType::Unknown && desc.dtype != DType::Bool && desc.dtype != DType::U64
            && !tensor::isFloat(desc.dtype);
    });
}

/// Whether integers are counted as such: exact where doubles are not, and wrapping around as stored ones do.
bool countsInIntegers(const kernels::Operation &operation)
{
    const bool isOrder = operation.op.is<ops::TopK>() || operation.op.is<ops::Sort>()
        || operation.op.is<ops::ArgSort>() || operation.op.is<ops::ArgReduce>();
    const auto are = [](const std::vector<kernels::TensorDesc> &descs, DType type) {
        return std::ranges::all_of(descs,
                                   [type](const kernels::TensorDesc &desc) { return desc.dtype == type; });
    };
    if ((operation.op.is<ops::Binary>() || operation.op.is<ops::Unary>()) && are(operation.inputs, DType::U64)
        && (are(operation.outputs, DType::U64) || are(operation.outputs, DType::Bool)))
        return hasIntegerForm(operation.op);
    return areIntegers(operation.inputs)
        && (isOrder || areIntegers(operation.outputs) || are(operation.outputs, DType::Bool))
        && hasIntegerForm(operation.op);
}

template <class Real>
constexpr DType kTypeOf = std::is_integral_v<Real> ? DType::I64
    : sizeof(Real) == sizeof(float)                ? DType::F32
                                                   : DType::F64;

std::size_t elementsOf(const kernels::TensorDesc &desc)
{
    return count(desc.shape.dims());
}

class ReferenceKernel : public kernels::Kernel
{
public:
    ReferenceKernel(kernels::Operation operation, unsigned threads)
        : m_operation(std::move(operation))
        , m_workers(threads)
    {
    }

    std::string name() const override { return "reference"; }
    void setStop(std::stop_token stop) override { m_workers.setStop(std::move(stop)); }

protected:
    kernels::Operation m_operation;
    kernels::Workers m_workers;
};

/// An operator's function for Real.
template <class Real>
using Compute = Result<void> (*)(const ops::Operator &op, const Arrays<Real> &arrays);

template <class Op, class Real>
Result<void> computeAs(const ops::Operator &op, const Arrays<Real> &arrays)
{
    return compute(op.as<Op>(), arrays);
}

/// Widens the inputs that are not Real already, and rounds the outputs. Compiled once for all operators.
template <class Real>
class ComputingKernel final : public ReferenceKernel
{
public:
    ComputingKernel(const kernels::Operation &operation, unsigned threads, Compute<Real> function)
        : ReferenceKernel(operation, threads)
        , m_compute(function)
    {
    }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        Arrays<Real> arrays{m_operation, m_workers, {}, {}};
        std::vector<std::vector<Real>> wide(inputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i)
            arrays.in.push_back(widened(m_operation.inputs[i], inputs[i], wide[i]));
        std::vector<std::vector<Real>> results(outputs.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const kernels::TensorDesc &desc = m_operation.outputs[i];
            const bool direct = desc.dtype == kTypeOf<Real>;
            if (outputs[i] && !direct)
                results[i].resize(elementsOf(desc));
            arrays.out.push_back(direct || !outputs[i] ? reinterpret_cast<Real *>(outputs[i])
                                                       : results[i].data());
        }
        HALFTONE_CHECK(m_compute(m_operation.op, arrays));
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] && m_operation.outputs[i].dtype != kTypeOf<Real>)
                narrowed(results[i], m_operation.outputs[i].dtype, outputs[i]);
        }
        return {};
    }

private:
    static const Real *widened(const kernels::TensorDesc &desc, const std::byte *bytes,
                               std::vector<Real> &buffer)
    {
        if (desc.dtype == kTypeOf<Real>)
            return reinterpret_cast<const Real *>(bytes);
        if constexpr (std::is_integral_v<Real>) {
            buffer = tensor::integers(desc.dtype, bytes, elementsOf(desc));
        } else {
            buffer.resize(elementsOf(desc));
            tensor::widen(desc.dtype, bytes, buffer.size(), buffer.data());
        }
        return buffer.data();
    }

    static void narrowed(const std::vector<Real> &values, DType type, std::byte *out)
    {
        if constexpr (std::is_integral_v<Real>)
            tensor::convert(DType::I64, reinterpret_cast<const std::byte *>(values.data()), values.size(),
                            type, out);
        else
            tensor::narrow(values.data(), values.size(), type, out);
    }

    Compute<Real> m_compute;
};

/// An operator's function for bytes, which it leaves as they are.
using Move = Result<void> (*)(const ops::Operator &op, const RawArrays &arrays);

template <class Op>
Result<void> moveAs(const ops::Operator &op, const RawArrays &arrays)
{
    if constexpr (Moves<Op>)
        return move(op.as<Op>(), arrays);
    else
        return computeRaw(op.as<Op>(), arrays);
}

class RawKernel final : public ReferenceKernel
{
public:
    RawKernel(const kernels::Operation &operation, unsigned threads, Move function)
        : ReferenceKernel(operation, threads)
        , m_move(function)
    {
    }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        return m_move(m_operation.op, RawArrays{m_operation, m_workers, inputs, outputs});
    }

private:
    Move m_move;
};

Error atOperator(const kernels::Operation &operation, Error error)
{
    error.found = operation.opName + ": " + error.found;
    return error;
}

/// Kernels trust their operation; what cannot be trusted is refused here.
Result<void> check(const kernels::Operation &operation)
{
    std::vector<tensor::Shape> inputs;
    std::vector<tensor::Shape> outputs;
    for (const auto &[from, to] :
         {std::pair(&operation.inputs, &inputs), std::pair(&operation.outputs, &outputs)}) {
        for (const kernels::TensorDesc &desc : *from) {
            if (desc.dtype == DType::Unknown || !desc.shape.isComplete())
                return badCall({},
                               operation.opName + " with a " + std::string(tensor::nameOf(desc.dtype))
                                   + " tensor of shape " + desc.shape.toString(),
                               "known types and shapes");
            HALFTONE_CHECK(kernels::checkedBytes(desc));
            to->push_back(desc.shape);
        }
    }
    auto inferred = ops::inferShapes(operation.op, inputs, outputs);
    return inferred.ok() ? Result<void>() : Result<void>(atOperator(operation, std::move(inferred).error()));
}

class ReferenceBackend final : public kernels::Backend
{
public:
    explicit ReferenceBackend(const ReferenceOptions &options)
        : m_options(options)
    {
    }

    std::string_view name() const override { return "reference"; }
    kernels::Support support(DType type) const override
    {
        return type == DType::Unknown ? kernels::Support::No
            : tensor::isHalf(type)    ? kernels::Support::Emulated
                                      : kernels::Support::Native;
    }

    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        HALFTONE_CHECK(check(operation));
        std::vector<tensor::Shape> shapes;
        for (const kernels::TensorDesc &input : operation.inputs)
            shapes.push_back(input.shape);
        kernels::Operation own = operation;
        own.op = ops::settled(operation.op, shapes);
        return ops::visit([&](const auto &op) { return prepareAs(op, own); }, own.op);
    }

private:
    using Prepared = Result<std::unique_ptr<kernels::Kernel>>;

    template <class Op>
    Prepared prepareAs(const Op & /*op*/, const kernels::Operation &operation) const
    {
        if constexpr (ComputesIntegers<Op>) {
            if (countsInIntegers(operation))
                return computing<std::int64_t>(operation, computeAs<Op, std::int64_t>);
        }
        if constexpr (Computes<Op, float>) {
            if (m_options.inDouble || needsDouble(operation))
                return computing<double>(operation, computeAs<Op, double>);
            return computing<float>(operation, computeAs<Op, float>);
        } else if constexpr (Moves<Op> || ComputesRaw<Op>) {
            return moving(operation, moveAs<Op>);
        } else {
            return unsupported({}, operation.opName + " has no reference kernel");
        }
    }

    template <class Real>
    Prepared computing(const kernels::Operation &operation, Compute<Real> function) const
    {
        return std::unique_ptr<kernels::Kernel>(
            std::make_unique<ComputingKernel<Real>>(operation, m_options.threads, function));
    }

    Prepared moving(const kernels::Operation &operation, Move function) const
    {
        return std::unique_ptr<kernels::Kernel>(
            std::make_unique<RawKernel>(operation, m_options.threads, function));
    }

    ReferenceOptions m_options;
};

} // namespace

std::shared_ptr<const kernels::Backend> referenceBackend(const ReferenceOptions &options)
{
    return std::make_shared<const ReferenceBackend>(options);
}

BackendEntry backendEntry(std::string_view name, std::string why)
{
    return {.name = std::string(name),
            .device = processor(),
            .why = std::move(why),
            .isComplete = true,
            .make = [](const BackendUse &use) {
                return referenceBackend({use.threads, false});
            }};
}

} // namespace halftone::backends::reference
