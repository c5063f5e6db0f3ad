#include "core/latency/body_kernel.h"

#include "core/dialect/dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/graph/traverse.h"
#include "core/interpret/interpreter.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::latency {
namespace {

using graph::Entry;
using graph::NodeId;

/// An input that a run brings.
struct BodyInput
{
    std::size_t at = 0;
    std::string name;
    kernels::TensorDesc desc;
};

class BodyKernel final : public kernels::Kernel
{
public:
    BodyKernel(interpret::Interpreter interpreter, std::vector<BodyInput> inputs,
               std::vector<kernels::TensorDesc> outputs, std::string node)
        : m_interpreter(std::move(interpreter))
        , m_inputs(std::move(inputs))
        , m_outputs(std::move(outputs))
        , m_node(std::move(node))
    {
    }

    std::string name() const override { return std::string(kBodyKernelName); }
    void setStop(std::stop_token stop) override { m_stop = std::move(stop); }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        interpret::Feed feed;
        for (const BodyInput &input : m_inputs) {
            const auto count = static_cast<std::size_t>(input.desc.shape.elementCount().value_or(0));
            feed.emplace(input.name,
                         tensor::Tensor(input.desc.dtype, input.desc.shape,
                                        {inputs[input.at], count * tensor::sizeOf(input.desc.dtype)},
                                        nullptr));
        }
        interpret::RunOptions options;
        options.progress.stop = m_stop;
        HALFTONE_TRY(const std::vector<tensor::Tensor> values, m_interpreter.run(feed, options));
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (values[k].dtype() != m_outputs[k].dtype || values[k].shape() != m_outputs[k].shape)
                return badInput(m_node,
                                "a result of " + std::string(tensor::nameOf(values[k].dtype())) + ' '
                                    + values[k].shape().toString(),
                                std::string(tensor::nameOf(m_outputs[k].dtype)) + ' '
                                    + m_outputs[k].shape.toString()
                                    + ", the shape seen when the plan was made");
            if (values[k].byteCount() > 0)
                std::memcpy(outputs[k], values[k].bytes().data(), values[k].byteCount());
        }
        return {};
    }

private:
    interpret::Interpreter m_interpreter;
    std::vector<BodyInput> m_inputs;
    std::vector<kernels::TensorDesc> m_outputs; ///< those that somebody reads
    std::string m_node;
    std::stop_token m_stop;
};

} // namespace

Result<std::unique_ptr<kernels::Kernel>> bodyKernel(const infer::TypedModel &typed, NodeId node,
                                                    const kernels::BackendChain &backends)
{
    const graph::Graph &source = typed.model.graph;
    const dialect::StoredArrays held = dialect::storedArrays(typed.model);
    graph::Model model{graph::Graph::like(source), {}, true};
    std::vector<BodyInput> inputs;
    std::vector<Entry> entries;
    std::unordered_map<NodeId, Entry> parameters; // of the source, once each
    for (std::size_t k = 0; k < source.inputs(node).size(); ++k) {
        const Entry &entry = source.inputs(node)[k];
        const auto array
            = source.isVariable(entry.node) ? held.find(source.node(entry.node).name) : held.end();
        if (array != held.end()) {
            const auto [known, isNew] = parameters.try_emplace(entry.node);
            if (isNew) {
                known->second = {model.graph.add(source.sharedNode(entry.node), {}), 0, 0};
                model.parameters.push_back(*array->second);
            }
            entries.push_back(known->second);
            continue;
        }
        std::string name = "halftone_body_input" + std::to_string(k);
        entries.push_back({model.graph.add(dialect::of(source).makeVariable(name), {}), 0, 0});
        inputs.push_back(
            {k, std::move(name), {typed.types.at(entry.node, entry.output), typed.shapes.of(entry)}});
    }
    const NodeId copy = model.graph.add(source.sharedNode(node), entries);
    std::vector<Entry> heads;
    std::vector<kernels::TensorDesc> outputs;
    for (std::uint32_t k = 0; k < graph::referencedOutputs(source)[node]; ++k) {
        heads.push_back({copy, k, 0});
        outputs.push_back({typed.types.at(node, k), typed.shapes.byNode[node][k]});
    }
    model.graph.setHeads(std::move(heads));
    HALFTONE_TRY(interpret::Interpreter interpreter, interpret::Interpreter::create(model, backends));
    return std::unique_ptr<kernels::Kernel>(std::make_unique<BodyKernel>(
        std::move(interpreter), std::move(inputs), std::move(outputs), source.node(node).name));
}

} // namespace halftone::latency
