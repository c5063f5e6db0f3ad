#include "core/compare/lowered_layer.h"

#include "core/dialect/dialect.h"

#include <algorithm>

namespace halftone::compare {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

/// `value` in another type, by a cast node of its own where that is not its type already.
Entry castTo(graph::Graph &graph, const Entry &value, DType from, DType to, const std::string &name)
{
    if (from == to || !tensor::isFloat(from) || !tensor::isFloat(to))
        return value;
    const NodeId cast = graph.add(dialect::of(graph).makeCast(name, to), std::span(&value, 1));
    return {cast, 0, 0};
}

} // namespace

Result<void> needTypes(const ComparedModels &models)
{
    if (models.types.nodeCount() != models.other.graph.nodeCount())
        return unsupported(Field::Effect, "isolated errors need a conversion", "cumulative");
    return {};
}

std::optional<LoweredForm> loweredForm(const ComparedModels &models, NodeId node,
                                       std::span<const DType> inputs, std::span<const DType> outputs)
{
    if (!models.int8Group.empty() && models.int8Group[node] != rewrite::kNoNode) {
        auto layer = outputs.empty() || outputs[0] != DType::F32 ? std::nullopt : int8Layer(models, node);
        if (!layer)
            return std::nullopt;
        return LoweredForm{{}, {}, {}, std::make_shared<const Int8Layer>(std::move(*layer))};
    }
    const NodeId lowered = models.counterpart[node];
    const auto lowerInputs = models.other.graph.inputs(lowered);
    const bool isSameOperator = models.other.graph.node(lowered).op == models.reference.graph.node(node).op;
    if (!isSameOperator || lowerInputs.size() != inputs.size())
        return std::nullopt;
    LoweredForm form{models.other.graph.sharedNode(lowered), {}, {}};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DType type = models.types.of(lowerInputs[i]);
        form.inputs.push_back(type == DType::Unknown ? inputs[i] : type);
    }
    const auto types = models.types.outputs(lowered);
    for (std::size_t k = 0; k < outputs.size(); ++k)
        form.outputs.push_back(k < types.size() && types[k] != DType::Unknown ? types[k] : outputs[k]);
    const bool isLowered
        = !std::ranges::equal(form.inputs, inputs) || !std::ranges::equal(form.outputs, outputs);
    return isLowered ? std::optional(std::move(form)) : std::nullopt;
}

Result<std::optional<LoweredLayer>> LoweredLayer::create(const ComparedModels &models, NodeId node,
                                                         std::span<const DType> inputs,
                                                         std::span<const DType> outputs,
                                                         const kernels::BackendChain &backends)
{
    const std::optional<LoweredForm> form = loweredForm(models, node, inputs, outputs);
    if (!form)
        return std::optional<LoweredLayer>();
    if (form->int8) {
        HALFTONE_TRY(interpret::Interpreter interpreter,
                     interpret::Interpreter::create(form->int8->model, backends));
        LoweredLayer made(std::move(interpreter));
        made.m_isInt8 = true;
        for (std::size_t k = 0; k < form->int8->reads.size(); ++k)
            made.m_names.push_back(inputName(k));
        return std::optional<LoweredLayer>(std::move(made));
    }
    graph::Graph graph = graph::Graph::like(models.other.graph);
    std::vector<std::string> names;
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        names.push_back("input" + std::to_string(i));
        const NodeId variable = graph.add(dialect::of(graph).makeVariable(names.back()), {});
        entries.push_back(
            castTo(graph, {variable, 0, 0}, inputs[i], form->inputs[i], names.back() + "_cast"));
    }
    const NodeId layer = graph.add(form->node, entries);
    std::vector<Entry> heads;
    for (std::uint32_t k = 0; k < outputs.size(); ++k)
        heads.push_back(
            castTo(graph, {layer, k, 0}, form->outputs[k], outputs[k], "output" + std::to_string(k)));
    graph.setHeads(std::move(heads));
    HALFTONE_TRY(interpret::Interpreter interpreter,
                 interpret::Interpreter::create({std::move(graph), {}, false}, backends, models.float16As));
    LoweredLayer made(std::move(interpreter));
    made.m_names = std::move(names);
    return std::optional<LoweredLayer>(std::move(made));
}

Result<std::vector<tensor::Tensor>> LoweredLayer::run(std::span<const tensor::Tensor> inputs,
                                                      const Progress &progress)
{
    interpret::Feed feed;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        feed.emplace(m_names[i], inputs[i]);
    return m_interpreter.run(feed, {{}, {progress.stop, {}}});
}

} // namespace halftone::compare
