#include "core/compare/kept_layers.h"

#include "core/compare/value_spans.h"
#include "core/infer/shown_outputs.h"

#include <algorithm>

namespace halftone::compare {
namespace {

using graph::NodeId;
using interpret::Execution;
using tensor::DType;
using tensor::Tensor;

/// A dragged threshold makes a form with every step, and each holds its weights.
constexpr std::size_t kFormsPerLayer = 16;

bool areSame(const LoweredForm &a, const LoweredForm &b)
{
    if (a.int8 || b.int8)
        return a.int8 && b.int8 && compare::areSame(*a.int8, *b.int8);
    return a.inputs == b.inputs && a.outputs == b.outputs
        && (a.node == b.node
            || (a.node->op == b.node->op && a.node->attributes == b.node->attributes
                && std::ranges::equal(a.node->subgraphs, b.node->subgraphs, [](const auto &x, const auto &y) {
                       return x == y || compare::areSame(*x, *y);
                   })));
}

} // namespace

KeptLayers::KeptLayers(const graph::Graph &reference, const kernels::BackendChain &backends,
                       std::size_t batches)
    : m_graph(reference)
    , m_backends(backends)
    , m_shown(infer::shownOutputs(reference))
    , m_weighed(weighedValues(reference))
    , m_batches(batches)
{
}

KeptLayers::Asked KeptLayers::choose(const ComparedModels &models, const KeptPlan &reference,
                                     const KeptPlan &lowered, std::size_t workers)
{
    Asked asked;
    asked.layers.resize(workers);
    asked.keepsLayers = m_batches > workers;
    asked.bytes.resize(m_graph.nodeCount());
    double behind = 0;
    for (auto id = reference.order.rbegin(); id != reference.order.rend(); ++id) {
        const double own = m_graph.isVariable(*id) ? 0 : static_cast<double>(reference.bytes[*id]);
        asked.bytes[*id] = own + behind / 2;
        behind += own;
    }
    for (const NodeId id : reference.order) {
        const NodeId counterpart = models.counterpart[id];
        if (m_graph.isVariable(id) || counterpart == rewrite::kNoNode || lowered.keys[counterpart] == 0)
            continue;
        std::vector<DType> inputs;
        for (const graph::Entry &entry : m_graph.inputs(id))
            inputs.push_back(reference.types[entry.node][entry.output]);
        std::optional<LoweredForm> form = loweredForm(models, id, inputs, reference.types[id]);
        if (!form)
            continue;
        std::vector<Form> &known = m_known[id];
        if (known.size() == kFormsPerLayer)
            known.erase(known.begin());
        const auto found
            = std::ranges::find_if(known, [&](const Form &one) { return areSame(one.form, *form); });
        asked.forms[id] = static_cast<std::size_t>(found - known.begin());
        if (found == known.end())
            known.push_back(
                {std::move(*form), KeptFigures(NodeRows(id, m_shown[id], m_weighed[id]), m_batches)});
    }
    return asked;
}

double KeptLayers::bytesToCompute(const Asked &asked) const
{
    double bytes = 0;
    for (const auto &[node, which] : asked.forms) {
        const std::size_t batches = m_batches - m_known.at(node)[which].figures.batches;
        bytes += static_cast<double>(batches) * asked.bytes[node];
    }
    return bytes;
}

bool KeptLayers::isKnown(const Asked &asked, std::size_t batch) const
{
    return std::ranges::all_of(asked.forms, [&](const auto &form) {
        return m_known.at(form.first)[form.second].figures.has[batch];
    });
}

Result<void> KeptLayers::add(Execution execution, const KeptBatch &batch, Asked &asked)
{
    Int8Reads reads(batch.models);
    while (!execution.isDone()) {
        const NodeId node = execution.node();
        if (reads.isPart(node))
            reads.keep(node, execution.inputs());
        if (const auto wanted = asked.forms.find(node); wanted != asked.forms.end()) {
            auto &[form, figures] = m_known.at(node)[wanted->second];
            const std::vector<Tensor> inputs = form.int8 ? reads.take(node) : execution.inputs();
            if (!figures.has[batch.index]) {
                batch.begins(node);
                HALFTONE_CHECK(addLayer(execution, inputs, figures, batch, asked));
                if (!asked.keepsLayers)
                    asked.layers[batch.worker].erase(node);
                batch.ended(node);
            }
        }
        execution.give(batch.values.at(batch.reference.keys[node]));
    }
    return {};
}

/// `before` stands before the layer. Adds all figures or none.
Result<void> KeptLayers::addLayer(const Execution &before, std::span<const Tensor> inputs,
                                  KeptFigures &figures, const KeptBatch &batch, Asked &asked)
{
    const NodeId node = before.node();
    HALFTONE_TRY(LoweredLayer *const layer, layerOf(node, inputs, batch, asked));
    const std::vector<Tensor> &outputs = batch.values.at(batch.reference.keys[node]);
    HALFTONE_TRY(std::vector<Tensor> lowered, layer->run(inputs, batch.progress));
    lowered = completed(std::move(lowered), outputs);
    batch.computed();
    const std::vector<Tensor> &heads = batch.heads;
    std::vector<Tensor> changed;
    if (compare::areSame(outputs, lowered)) {
        changed = heads;
    } else if (std::ranges::equal(outputs, lowered, {}, &Tensor::shape, &Tensor::shape)) {
        HALFTONE_TRY(changed, headsWith(before.fork(), lowered, batch));
    }
    const std::lock_guard lock(m_adding);
    figures.rows.addIsolated(outputs, lowered);
    if (!changed.empty())
        figures.rows.addIsolatedAtOutputs(heads, changed);
    figures.settle(batch.index);
    return {};
}

Result<LoweredLayer *> KeptLayers::layerOf(NodeId node, std::span<const Tensor> inputs,
                                           const KeptBatch &batch, Asked &asked) const
{
    auto &layers = asked.layers[batch.worker];
    auto known = layers.find(node);
    if (known == layers.end()) {
        HALFTONE_TRY(std::optional<LoweredLayer> made,
                     LoweredLayer::create(batch.models, node, typesOf(inputs), batch.reference.types[node],
                                          m_backends));
        known = layers.emplace(node, std::move(made)).first;
    }
    return &*known->second;
}

/// The reference's heads when its next node gives other values.
Result<std::vector<Tensor>> KeptLayers::headsWith(Execution rest, std::vector<Tensor> lowered,
                                                  const KeptBatch &batch) const
{
    std::vector<bool> isChanged(m_graph.nodeCount());
    isChanged[rest.node()] = true;
    rest.give(std::move(lowered));
    while (!rest.isDone()) {
        const NodeId node = rest.node();
        for (const graph::Entry &entry : m_graph.inputs(node))
            isChanged[node] = isChanged[node] || isChanged[entry.node];
        if (!isChanged[node]) {
            rest.give(batch.values.at(batch.reference.keys[node]));
            continue;
        }
        HALFTONE_CHECK(rest.step({batch.progress.stop, {}}));
        batch.computed();
    }
    return rest.heads();
}

void KeptLayers::tell(NodeId node, const Asked &asked, std::span<LayerErrors> rows) const
{
    const auto form = asked.forms.find(node);
    if (form == asked.forms.end())
        return;
    const std::lock_guard lock(m_adding);
    const auto isolated = m_known.at(node)[form->second].figures.rows.layers();
    for (std::size_t k = 0; k < rows.size(); ++k) {
        rows[k].isolated = isolated[k].isolated;
        rows[k].isolatedAtOutputs = isolated[k].isolatedAtOutputs;
        rows[k].shapesDiffer = rows[k].shapesDiffer || isolated[k].shapesDiffer;
    }
}

} // namespace halftone::compare
