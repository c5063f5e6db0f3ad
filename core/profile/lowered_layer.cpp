#include "core/profile/lowered_layer.h"

namespace halftone::profile {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

/// `value` in another type, by a cast node of its own where that is not its type already.
Entry castTo(graph::Graph &graph, const Entry &value, DType from, DType to, const std::string &name)
{
    if (from == to || !tensor::isFloat(from) || !tensor::isFloat(to))
        return value;
    graph::Attributes attributes{{"dtype", std::string(tensor::nameOf(to))}};
    const NodeId cast = graph.add(
        std::make_shared<graph::NodeDef>(graph::NodeDef{"amp_cast", name, std::move(attributes), {}}),
        std::span(&value, 1));
    return {cast, 0, 0};
}

} // namespace

Result<std::optional<LoweredLayer>> LoweredLayer::create(const ComparedModels &models, NodeId node,
                                                         std::span<const DType> inputs,
                                                         std::span<const DType> outputs,
                                                         const runtime::BackendChain &backends)
{
    const NodeId lowered = models.counterpart[node];
    const graph::Graph &other = models.other.graph;
    const graph::NodeDefPtr &def = other.sharedNode(lowered);
    const auto lowerInputs = other.inputs(lowered);
    if (lowerInputs.size() != inputs.size())
        return std::optional<LoweredLayer>();
    graph::Graph graph;
    bool isLowered = false;
    std::vector<std::string> names;
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        names.push_back("input" + std::to_string(i));
        graph::Attributes none;
        const NodeId variable = graph.add(std::make_shared<graph::NodeDef>(graph::NodeDef{
                                              std::string(graph::kVariableOp), names.back(), none, {}}),
                                          {});
        const DType type = models.types.of(lowerInputs[i]);
        const DType wanted = type == DType::Unknown ? inputs[i] : type;
        isLowered = isLowered || wanted != inputs[i];
        entries.push_back(castTo(graph, {variable, 0, 0}, inputs[i], wanted, names.back() + "_cast"));
    }
    const NodeId layer = graph.add(def, entries);
    std::vector<Entry> heads;
    const auto lowerOutputs = models.types.outputs(lowered);
    for (std::uint32_t k = 0; k < outputs.size(); ++k) {
        const DType type
            = k < lowerOutputs.size() && lowerOutputs[k] != DType::Unknown ? lowerOutputs[k] : outputs[k];
        isLowered = isLowered || type != outputs[k];
        heads.push_back(castTo(graph, {layer, k, 0}, type, outputs[k], "output" + std::to_string(k)));
    }
    if (!isLowered)
        return std::optional<LoweredLayer>();
    graph.setHeads(std::move(heads));
    graph.setMetadata(other.metadata());
    HALFTONE_TRY(runtime::Interpreter interpreter,
                 runtime::Interpreter::create({std::move(graph), {}, false}, backends));
    LoweredLayer made(std::move(interpreter));
    made.m_names = std::move(names);
    return std::optional<LoweredLayer>(std::move(made));
}

Result<std::vector<tensor::Tensor>> LoweredLayer::run(std::span<const tensor::Tensor> inputs,
                                                      const Progress &progress)
{
    runtime::Feed feed;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        feed.emplace(m_names[i], inputs[i]);
    return m_interpreter.run(feed, {{}, {progress.stop, {}}});
}

} // namespace halftone::profile
