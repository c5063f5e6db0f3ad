#include "core/runtime/onednn/backend.h"

#include "core/runtime/buffer.h"
#include "core/runtime/half_loops.h"
#include "core/runtime/int8_ranges.h"
#include "core/runtime/onednn/lower.h"
#include "core/runtime/onednn/quiet_waits.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace halftone::runtime::onednn {
namespace {

using tensor::DType;

bool hasNativeBfloat16()
{
    const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
    return (static_cast<int>(isa) & static_cast<int>(dnnl::cpu_isa::avx512_core_bf16))
        == static_cast<int>(dnnl::cpu_isa::avx512_core_bf16);
}

bool isEmulated(DType type)
{
    return type == DType::F16 || (type == DType::BF16 && !hasNativeBfloat16());
}

std::size_t countOf(const TensorDesc &desc)
{
    return static_cast<std::size_t>(desc.shape.elementCount().value_or(0));
}

/// A program of one node, which reads and writes where the values are.
class NodeKernel final : public Kernel
{
public:
    NodeKernel(const Operation &operation, const Emitter &emitter, std::unique_ptr<Program> program,
               int threads)
        : m_program(std::move(program))
        , m_threads(threads)
    {
        for (std::size_t k = 0; k < operation.inputs.size(); ++k)
            if (!operation.isConstant(k))
                m_inputs.push_back({k, emitter.inputBuffer(m_inputs.size()), false});
        for (std::size_t k = 0; k < operation.outputs.size(); ++k) {
            if (!operation.isRead(k)) {
                m_unread.emplace_back(
                    k, countOf(operation.outputs[k]) * tensor::sizeOf(operation.outputs[k].dtype));
                continue;
            }
            const BufferId buffer = emitter.outputBuffer(m_outputs.size());
            m_outputs.push_back({k, buffer, isCopied(buffer)});
        }
    }

    std::string name() const override
    {
        for (const PlanStep &step : m_program->steps())
            if (step.kind == StepKind::Compute)
                return "oneDNN " + step.kernel;
        return "oneDNN reorder";
    }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        for (const Port &port : m_inputs) // oneDNN's handles are not const; it does not write what it reads
            m_program->place(port.buffer, const_cast<std::byte *>(inputs[port.at]));
        for (const Port &port : m_outputs)
            if (!port.isCopied)
                m_program->place(port.buffer, outputs[port.at]);
        const ThreadScope scope(m_threads);
        HALFTONE_CHECK(m_program->run({}));
        for (const Port &port : m_outputs)
            if (port.isCopied)
                std::memcpy(outputs[port.at], m_program->address(port.buffer), m_program->bytes(port.buffer));
        for (const auto &[at, bytes] : m_unread)
            std::memset(outputs[at], 0, bytes);
        return {};
    }

private:
    struct Port
    {
        std::size_t at = 0; ///< in the operation
        BufferId buffer = 0;
        bool isCopied
            = false; ///< an output that lies in an input, in a constant, or where another output does
    };

    bool isCopied(BufferId output) const
    {
        const auto isSame
            = [&](const Port &port) { return m_program->wholeOf(port.buffer) == m_program->wholeOf(output); };
        return m_program->isConstant(output) || std::ranges::any_of(m_inputs, isSame)
            || std::ranges::any_of(m_outputs, isSame);
    }

    std::unique_ptr<Program> m_program;
    std::vector<Port> m_inputs;
    std::vector<Port> m_outputs;
    std::vector<std::pair<std::size_t, std::size_t>> m_unread; ///< outputs that nobody reads, and their bytes
    int m_threads = 0;
};

/// packed  null: the weights are temporary, and nobody else has them
Result<std::unique_ptr<Kernel>> prepareWide(const Operation &operation, int threads, PackedWeights *packed,
                                            std::shared_ptr<const FusedInt8> fused = {})
{
    const ThreadScope scope(threads);
    PlanGraph graph = singleNode(operation);
    graph.nodes[0].fused = std::move(fused);
    settleRanges(graph);
    Emitter emitter(graph, nullptr, Format::Blocked, packed);
    HALFTONE_CHECK(emitter.begin());
    HALFTONE_CHECK(lower(emitter, graph.nodes[0]));
    HALFTONE_TRY(std::unique_ptr<Program> program, emitter.finish(Ports::Outside));
    return std::unique_ptr<Kernel>(
        std::make_unique<NodeKernel>(operation, emitter, std::move(program), threads));
}

/// `tensor`, of 16 bits, in float32.
Result<tensor::Tensor> widened(const tensor::Tensor &tensor)
{
    HALFTONE_TRY(const Buffer buffer, allocate({DType::F32, tensor.shape()}));
    widenHalves(tensor.dtype(), tensor.bytes().data(), static_cast<std::size_t>(tensor.elementCount()),
                reinterpret_cast<float *>(buffer.bytes));
    return buffer.tensor;
}

/// Computes in float32 what comes and goes in 16 bits.
class EmulatedKernel final : public Kernel
{
public:
    EmulatedKernel(Operation operation, std::unique_ptr<Kernel> wide)
        : m_operation(std::move(operation))
        , m_wide(std::move(wide))
    {
        const auto add = [this](const TensorDesc &desc, bool isNeeded) {
            const bool isWidened = isNeeded && isEmulated(desc.dtype);
            m_buffers.push_back(isWidened ? allocatePages(countOf(desc) * sizeof(float))
                                          : std::shared_ptr<std::byte>());
        };
        for (std::size_t k = 0; k < m_operation.inputs.size(); ++k)
            add(m_operation.inputs[k], !m_operation.isConstant(k));
        for (const TensorDesc &desc : m_operation.outputs)
            add(desc, true);
    }

    std::string name() const override { return m_wide->name() + ", emulated"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::vector<const std::byte *> from(inputs.begin(), inputs.end());
        std::vector<std::byte *> to(outputs.begin(), outputs.end());
        for (std::size_t k = 0; k < from.size(); ++k) {
            if (std::byte *buffer = m_buffers[k].get()) {
                widenHalves(m_operation.inputs[k].dtype, from[k], countOf(m_operation.inputs[k]),
                            reinterpret_cast<float *>(buffer));
                from[k] = buffer;
            }
        }
        const auto wideOutput = [&](std::size_t k) { return m_buffers[from.size() + k].get(); };
        for (std::size_t k = 0; k < to.size(); ++k)
            if (std::byte *buffer = wideOutput(k))
                to[k] = buffer;
        HALFTONE_CHECK(m_wide->run(from, to));
        for (std::size_t k = 0; k < to.size(); ++k)
            if (const std::byte *buffer = wideOutput(k))
                narrowToHalves(reinterpret_cast<const float *>(buffer), countOf(m_operation.outputs[k]),
                               m_operation.outputs[k].dtype, outputs[k]);
        return {};
    }

private:
    Operation m_operation;
    std::unique_ptr<Kernel> m_wide;
    std::vector<std::shared_ptr<std::byte>> m_buffers; ///< inputs, then outputs; null where none is needed
};

/// The ranges of codes come with them, and are the same from run to run where they are calibrated: a program is made for
/// those that come first, and again when others come.
class FusedInt8Kernel final : public Kernel
{
public:
    FusedInt8Kernel(const FusedInt8 &op, Operation operation, int threads)
        : m_op(std::make_shared<const FusedInt8>(op))
        , m_operation(std::move(operation))
        , m_threads(threads)
    {
        m_operation.constants.resize(m_operation.inputs.size());
        m_ends = {op.ends(), op.ends() + 1};
        if (op.hasSum)
            m_ends.insert(m_ends.end(), {op.addendEnds(), op.addendEnds() + 1});
        std::erase_if(m_ends, [this](std::size_t end) { return m_operation.isConstant(end); });
    }

    std::string name() const override { return m_kernel ? m_kernel->name() : "oneDNN int8"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::vector<float> values;
        for (const std::size_t end : m_ends)
            std::memcpy(&values.emplace_back(), inputs[end], sizeof(float));
        if (!m_kernel || values != m_values) {
            for (const std::size_t end : m_ends) {
                std::vector<std::byte> bytes(inputs[end], inputs[end] + sizeof(float));
                m_operation.constants[end]
                    = tensor::Tensor::owning(DType::F32, tensor::Shape{1}, std::move(bytes));
            }
            auto kernel = prepareWide(m_operation, m_threads, nullptr, m_op);
            m_kernel = kernel.ok() ? std::move(kernel).value()
                                   : referenceFusedInt8(*m_op, m_operation, static_cast<unsigned>(m_threads));
            m_values = std::move(values);
        }
        return m_kernel->run(inputs, outputs);
    }

private:
    std::shared_ptr<const FusedInt8> m_op;
    Operation m_operation;
    int m_threads = 0;
    std::vector<std::size_t> m_ends; ///< inputs that hold ranges and are no constants
    std::vector<float> m_values; ///< of those, that the kernel was made for
    std::unique_ptr<Kernel> m_kernel;
};

/// An operator of MXNet's int8 forms: a program is made for the ranges that come first, and again when others come.
class RangedKernel final : public Kernel
{
public:
    /// fallback  what computes with ranges that oneDNN cannot count in
    RangedKernel(Operation operation, std::vector<std::size_t> ends, int threads,
                 std::unique_ptr<Kernel> fallback)
        : m_operation(std::move(operation))
        , m_ends(std::move(ends))
        , m_threads(threads)
        , m_fallback(std::move(fallback))
    {
        m_operation.constants.resize(m_operation.inputs.size());
    }

    std::string name() const override { return m_kernel ? m_kernel->name() : "oneDNN int8"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::vector<float> values;
        for (const std::size_t end : m_ends)
            std::memcpy(&values.emplace_back(), inputs[end], sizeof(float));
        if (values != m_values) {
            auto kernel = prepare(values);
            m_kernel = kernel.ok() ? std::move(kernel).value() : nullptr;
            m_values = std::move(values);
        }
        return (m_kernel ? *m_kernel : *m_fallback).run(inputs, outputs);
    }

    Result<std::unique_ptr<Kernel>> prepare(std::span<const float> values)
    {
        for (std::size_t k = 0; k < m_ends.size(); ++k) {
            const auto bytes = std::as_bytes(values.subspan(k, 1));
            m_operation.constants[m_ends[k]] = tensor::Tensor::owning(
                DType::F32, m_operation.inputs[m_ends[k]].shape, {bytes.begin(), bytes.end()});
        }
        return prepareWide(m_operation, m_threads, nullptr);
    }

private:
    Operation m_operation;
    std::vector<std::size_t> m_ends; ///< inputs that hold ranges and are no constants
    int m_threads = 0;
    std::unique_ptr<Kernel> m_fallback;
    std::vector<float> m_values; ///< of those, that the kernel was made for
    std::unique_ptr<Kernel> m_kernel; ///< null: the fallback computes
};

template <class... Ops>
bool isOneOf(const ops::Operator &op)
{
    return (op.is<Ops>() || ...);
}

/// Where an int8 operator reads ranges that are only known at run time.
std::vector<std::size_t> openEnds(const Operation &operation)
{
    using namespace ops;
    std::vector<std::size_t> ends;
    if (!isOneOf<Requantize, Dequantize, Quantized<Conv>, Quantized<FullyConnected>, Quantized<Pool>,
                 Quantized<Activation>, Quantized<BatchNorm>, Quantized<Concat>, Quantized<Binary>>(
            operation.op))
        return ends;
    for (std::size_t k = 1; k < operation.inputs.size(); ++k)
        if (operation.inputs[k] == TensorDesc{DType::F32, tensor::Shape{1}} && !operation.isConstant(k))
            ends.push_back(k);
    return ends;
}

class OneDnnBackend final : public Backend
{
public:
    OneDnnBackend(int threads, Waits waits, std::shared_ptr<const Backend> fallback)
        : m_threads(threads)
        , m_fallback(std::move(fallback))
    {
        if (waits == Waits::Quiet && threads != 1)
            m_quiet.emplace();
    }

    std::string_view name() const override { return "cpu"; }

    Support support(DType type) const override
    {
        if (isEmulated(type))
            return Support::Emulated;
        return type == DType::F32 || type == DType::BF16 ? Support::Native : Support::No;
    }

    Result<std::unique_ptr<Kernel>> prepare(const Operation &operation) const override
    {
        if (auto ends = m_fallback ? openEnds(operation) : std::vector<std::size_t>(); !ends.empty())
            return prepareRanged(operation, std::move(ends));
        Operation wide = operation;
        bool emulates = false;
        for (auto *descs : {&wide.inputs, &wide.outputs}) {
            for (TensorDesc &desc : *descs) {
                if (isEmulated(desc.dtype)) {
                    desc.dtype = DType::F32;
                    emulates = true;
                }
            }
        }
        for (tensor::Tensor &constant : wide.constants) {
            if (isEmulated(constant.dtype())) {
                HALFTONE_TRY(constant, widened(constant));
            }
        }
        HALFTONE_TRY(std::unique_ptr<Kernel> kernel,
                     prepareWide(wide, m_threads, emulates ? nullptr : &m_packed));
        if (!emulates)
            return kernel;
        return std::unique_ptr<Kernel>(std::make_unique<EmulatedKernel>(operation, std::move(kernel)));
    }

private:
    Result<std::unique_ptr<Kernel>> prepareRanged(const Operation &operation,
                                                  std::vector<std::size_t> ends) const
    {
        HALFTONE_TRY(std::unique_ptr<Kernel> fallback, m_fallback->prepare(operation));
        std::vector<float> some; // lows and highs follow each other
        for (std::size_t k = 0; k < ends.size(); ++k)
            some.push_back(k % 2 == 0 ? 0 : 1);
        auto kernel
            = std::make_unique<RangedKernel>(operation, std::move(ends), m_threads, std::move(fallback));
        if (const auto tried = kernel->prepare(some); !tried.ok())
            return tried.error();
        return std::unique_ptr<Kernel>(std::move(kernel));
    }

    int m_threads = 0;
    std::shared_ptr<const Backend> m_fallback;
    std::optional<QuietWaits> m_quiet;
    mutable PackedWeights m_packed; ///< guards itself
};

} // namespace

Result<std::unique_ptr<Kernel>> fusedInt8Kernel(const FusedInt8 &op, const Operation &operation, int threads)
{
    const std::size_t weights = op.codedWeights ? op.inputCount() : op.addend();
    for (std::size_t k = 1; k < weights; ++k) {
        const bool isParameter = k < op.addend() || (op.codedWeights && k >= op.weightEnds());
        if (isParameter && !operation.isConstant(k))
            return unsupported("plan", "weights that are only known at run time");
    }
    return std::unique_ptr<Kernel>(std::make_unique<FusedInt8Kernel>(op, operation, threads));
}

std::shared_ptr<const Backend> onednnBackend(int threads, Waits waits,
                                             std::shared_ptr<const Backend> fallback)
{
    return std::make_shared<OneDnnBackend>(threads, waits, std::move(fallback));
}

} // namespace halftone::runtime::onednn
