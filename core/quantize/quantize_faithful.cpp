#include "core/quantize/quantize_faithful.h"

#include "core/dialect/arithmetic.h"
#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"
#include "core/dialect/stored_arrays.h"
#include "core/infer/infer_data_types.h"
#include "core/infer/infer_types.h"

#include <algorithm>

namespace halftone::quantize {
namespace {

using graph::Graph;
using graph::NodeId;
using tensor::DType;
using DefectKind = dialect::Int8Defect::Kind;

bool isAllOnes(const tensor::Array &array)
{
    if (array.storage != tensor::Storage::Dense || array.values.dtype() != DType::F32)
        return true; // refused elsewhere
    const std::vector<float> values = array.values.values<float>();
    return std::ranges::all_of(values, [](float value) { return value == 1; });
}

bool isInt8Multiplication(const Graph &graph, NodeId id)
{
    const auto op = dialect::of(graph).read(graph.node(id));
    const auto *const binary = op.ok() ? op.value().getIf<ops::Quantized<ops::Binary>>() : nullptr;
    return binary && binary->op.kind == ops::BinaryKind::Mul;
}

} // namespace

Deviations deviationsAhead(const graph::Model &model)
{
    Deviations deviations;
    const dialect::StoredArrays arrays = dialect::storedArrays(model);
    const Graph &graph = model.graph;
    const dialect::Arithmetic *const arithmetic = dialect::of(graph).arithmetic();
    if (arithmetic == nullptr)
        return deviations;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id) || graph.inputs(id).size() < 2)
            continue;
        const auto op = dialect::of(graph).read(graph.node(id));
        const auto *const conv = op.ok() ? op.value().getIf<ops::Conv>() : nullptr;
        if (conv && conv->groups > 1 && conv->outputChannels > conv->groups)
            deviations.sums.insert(id);
        if (!op.ok() || !op.value().is<ops::BatchNormalization>())
            continue;
        const auto gamma = arrays.find(graph.node(graph.inputs(id)[1].node).name);
        std::string why
            = arithmetic->spoiltByScale(op.value(), gamma == arrays.end() || isAllOnes(*gamma->second));
        if (!why.empty())
            deviations.real.emplace(id, std::move(why));
    }
    return deviations;
}

Result<infer::TypeMap> typesOf(const QuantizedDraft &draft,
                               const std::unordered_set<std::string_view> &parameters)
{
    std::unordered_set<std::string_view> codes;
    for (const OfflineParameter &parameter : draft.offline)
        codes.insert(parameter.codes);
    std::vector<DType> types(draft.graph.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < draft.graph.nodeCount(); ++id) {
        if (draft.graph.isVariable(id))
            types[id] = codes.contains(draft.graph.node(id).name) ? DType::I8 : DType::F32;
    }
    auto found = infer::inferTypes(draft.graph, types);
    if (found.ok())
        return found;
    std::vector<NodeId> data;
    for (NodeId id = 0; id < draft.graph.nodeCount(); ++id) {
        const bool isData = draft.graph.isVariable(id)
            && draft.origins[id].kind == QuantizedOrigin::Kind::Copy
            && !parameters.contains(draft.graph.node(id).name);
        if (!isData)
            continue;
        types[id] = DType::Unknown;
        data.push_back(id);
    }
    return infer::inferDataTypes(draft.graph, data, types);
}

bool deviateMore(const QuantizedDraft &draft, const std::vector<infer::CpuDefect> &defects,
                 QuantizedForm form, Deviations &deviations)
{
    bool isMore = false;
    for (const infer::CpuDefect &defect : defects) {
        const QuantizedOrigin &origin = draft.origins[defect.node];
        if (!defect.int8 || origin.kind != QuantizedOrigin::Kind::Int8)
            continue;
        const NodeId first = origin.nodes.front();
        const bool isProduct = isInt8Multiplication(draft.graph, defect.node);
        if (defect.int8->kind == DefectKind::SumCutAbove)
            isMore |= deviations.halvedCodes.insert(first).second;
        else if (defect.int8->kind == DefectKind::SumCutBelow)
            isMore |= deviations.withoutSum.insert(first).second;
        else if (defect.int8->kind == DefectKind::Refused && (form == QuantizedForm::Onednn || isProduct))
            isMore |= deviations.real.emplace(first, defect.int8->text).second;
    }
    return isMore;
}

std::set<NodeId> convolutionsWithSignedSum(const QuantizedDraft &draft)
{
    std::set<NodeId> convolutions;
    const dialect::Dialect &dialect = dialect::of(draft.graph);
    for (NodeId id = 0; id < draft.graph.nodeCount(); ++id) {
        const graph::NodeDef &node = draft.graph.node(id);
        if (draft.origins[id].kind != QuantizedOrigin::Kind::Int8 || !dialect.quantizedForms()->hasSum(node))
            continue;
        const Graph &body = *node.subgraphs[0];
        const auto last = dialect.read(body.node(body.heads()[0].node));
        if (!last.ok() || !last.value().is<ops::Activation>()) // a ReLU
            convolutions.insert(draft.origins[id].nodes.front());
    }
    return convolutions;
}

} // namespace halftone::quantize
