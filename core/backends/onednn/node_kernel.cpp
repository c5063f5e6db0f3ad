#include "core/backends/onednn/node_kernel.h"

#include "core/backends/onednn/lower.h"
#include "core/plan/int8_ranges.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace halftone::backends::onednn {
namespace {

/// A program of one node, which reads and writes where the values are.
class NodeKernel final : public kernels::Kernel
{
public:
    NodeKernel(const kernels::Operation &operation, const Emitter &emitter, std::unique_ptr<Program> program,
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
                    k,
                    static_cast<std::size_t>(operation.outputs[k].shape.elementCount().value_or(0))
                        * tensor::sizeOf(operation.outputs[k].dtype));
                continue;
            }
            const BufferId buffer = emitter.outputBuffer(m_outputs.size());
            m_outputs.push_back({k, buffer, isCopied(buffer)});
        }
    }

    std::string name() const override
    {
        for (const kernels::PlanStep &step : m_program->steps())
            if (step.kind == kernels::StepKind::Compute)
                return "oneDNN " + step.kernel;
        return "oneDNN reorder";
    }

    void setStop(std::stop_token stop) override { m_stop = std::move(stop); }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        for (const Port &port : m_inputs) // oneDNN's handles are not const; it does not write what it reads
            m_program->place(port.buffer, const_cast<std::byte *>(inputs[port.at]));
        for (const Port &port : m_outputs)
            if (!port.isCopied)
                m_program->place(port.buffer, outputs[port.at]);
        const ThreadScope scope(m_threads);
        HALFTONE_CHECK(m_program->run({.stop = m_stop, .report = {}}));
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
    std::stop_token m_stop;
};

/// Where tiles are multiplied, 16-bit convolutions read and write channels last: with blocks of channels oneDNN takes kernels without tiles.
Format formatFor(const kernels::Operation &operation)
{
    const bool isHalf = !operation.inputs.empty() && operation.inputs[0].dtype == tensor::DType::BF16;
    const auto *conv = operation.op.getIf<ops::Conv>();
    return isHalf && conv != nullptr && conv->groups == 1 && multipliesTiles() ? Format::ChannelsLast
                                                                               : Format::Blocked;
}

Result<std::unique_ptr<kernels::Kernel>> programFor(const kernels::Operation &operation, int threads,
                                                    PackedWeights *packed)
{
    const ThreadScope scope(threads);
    plan::PlanGraph graph = plan::singleNode(operation);
    plan::settleRanges(graph);
    Emitter emitter(graph, nullptr, formatFor(operation), packed);
    HALFTONE_CHECK(emitter.begin());
    HALFTONE_CHECK(lower(emitter, graph.nodes[0]));
    HALFTONE_TRY(std::unique_ptr<Program> program, emitter.finish(Ports::Outside));
    return std::unique_ptr<kernels::Kernel>(
        std::make_unique<NodeKernel>(operation, emitter, std::move(program), threads));
}

} // namespace

Result<std::unique_ptr<kernels::Kernel>> nodeKernel(const kernels::Operation &operation, int threads,
                                                    PackedWeights *packed)
{
    return contained({}, [&] { return programFor(operation, threads, packed); });
}

} // namespace halftone::backends::onednn
