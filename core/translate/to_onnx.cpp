#include "core/translate/to_onnx.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/infer_types.h"
#include "core/infer/known_shapes.h"
#include "core/infer/static_shapes.h"
#include "core/infer/stored_types.h"
#include "core/infer/variables.h"
#include "core/ops/settle.h"
#include "core/translate/writers.h"

#include <algorithm>
#include <array>

namespace halftone::translate {
namespace {

/// Sums and means take their axes as inputs from 18 on, so that all operators are of one form; Conv and its like take bfloat16
/// from 22 on.
constexpr int kOpset = 18;
constexpr int kOpsetOfBfloat16 = 22;

const WriterRow *rowFor(const ops::Operator &op)
{
    static const auto kByOperator = [] {
        std::array<const WriterRow *, ops::Operators::kSize> rows{};
        for (auto *part : {elementwiseWriters, layerWriters, windowWriters, movementWriters, reshapeWriters,
                           reductionWriters, placeWriters, recurrenceWriters, codeWriters,
                           codedProductWriters, linearCodeWriters})
            for (const WriterRow &row : part())
                rows[row.op] = &row;
        return rows;
    }();
    return kByOperator[op.index()];
}

bool hasBfloat16(const graph::Graph &graph, const infer::TypeMap &types)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (std::ranges::find(types.outputs(id), tensor::DType::BF16) != types.outputs(id).end())
            return true;
    return false;
}

/// Ranks that inputs are tried with.
constexpr std::size_t kMostAxes = 6;

/// How many axes an input has, where all but one number of them contradict what reads it; 0 where that does not tell.
std::size_t onlyRank(const graph::Graph &graph, infer::KnownShapes known, const std::string &input)
{
    std::size_t only = 0;
    for (std::size_t rank = 1; rank <= kMostAxes; ++rank) {
        known[input] = tensor::Shape::ofRank(rank);
        if (!infer::inferShapes(graph, known).ok())
            continue;
        if (only != 0)
            return 0;
        only = rank;
    }
    return only;
}

/// Shapes as far as they follow. A file must say how many axes an input has, so that is sought where it does not follow by itself.
Result<infer::ShapeMap> shapesOf(const graph::Model &model, const InputFacts &inputs)
{
    infer::KnownShapes known = infer::withParameterShapes(inputs.shapes, model);
    HALFTONE_TRY(infer::ShapeMap shapes, infer::inferShapes(model.graph, known));
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const std::string &name = model.graph.node(id).name;
        if (!model.graph.isVariable(id) || known.contains(name) || shapes.of({id, 0, 0}).hasRank())
            continue;
        const std::size_t rank = onlyRank(model.graph, known, name);
        if (rank == 0)
            continue;
        known[name] = tensor::Shape::ofRank(rank);
        HALFTONE_TRY(shapes, infer::inferShapes(model.graph, known));
    }
    return infer::staticShapes(model, std::move(shapes));
}

Result<infer::TypeMap> typesOf(const graph::Model &model, const InputFacts &inputs)
{
    policy::Policy policy;
    policy.inputDtypes.insert(inputs.types.begin(), inputs.types.end());
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(const auto variables, infer::classifyVariables(model, policy, warnings));
    std::vector<tensor::DType> types(model.graph.nodeCount(), tensor::DType::Unknown);
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id)
        if (model.graph.isVariable(id) && (variables[id].isData || !variables[id].isAssumed))
            types[id] = variables[id].type;
    return infer::inferTypes(model.graph, types);
}

/// A node, with what is known of its inputs before a run: operators may have inputs in place of attributes.
Result<ops::Operator> readNode(const GraphDraft &draft, graph::NodeId id)
{
    const graph::Graph &graph = draft.source().model.graph;
    const dialect::Dialect &dialect = dialect::of(graph);
    std::vector<tensor::Tensor> known;
    for (const graph::Entry &input : graph.inputs(id)) {
        HALFTONE_TRY(const auto constant, dialect.constantOf(graph.node(input.node)));
        const tensor::Tensor *const held = constant ? &*constant : draft.parameter(input);
        const tensor::Shape &shape = draft.source().shapes.of(input);
        if (held != nullptr)
            known.push_back(*held);
        else // its shape alone
            known.push_back(shape.elementCount() ? tensor::Tensor(tensor::DType::Unknown, shape, {}, {})
                                                 : tensor::Tensor());
    }
    return dialect.readWith(graph.node(id), known);
}

/// Does its padding follow from the extents of the data?
bool hasOpenPadding(const ops::Operator &op)
{
    const auto isOpen = [](const ops::Padding &pad) { return pad.same != ops::Padding::Same::No; };
    const auto *const conv = op.getIf<ops::Conv>();
    const auto *const pool = op.getIf<ops::Pool>();
    return (conv != nullptr && isOpen(conv->pad)) || (pool != nullptr && isOpen(pool->pad));
}

/// The node with paddings in numbers. fails: Unsupported where an extent that says them is not known
Result<ops::Operator> settledNode(const GraphDraft &draft, graph::NodeId id)
{
    HALFTONE_TRY(const ops::Operator op, readNode(draft, id));
    const graph::Graph &graph = draft.source().model.graph;
    if (!hasOpenPadding(op) || graph.inputs(id).empty())
        return op;
    const tensor::Shape &data = draft.source().shapes.of(graph.inputs(id)[0]);
    const auto dims = data.dims();
    if (dims.empty() || std::ranges::any_of(dims.subspan(1), [](std::int64_t dim) { return dim < 0; }))
        return orElse(unsupported(graph.node(id).name, "its padding depends on extents that are not known"),
                      Field::Shape, "for the inputs");
    return ops::settled(op, std::span(&data, 1));
}

/// The translation, if its operators take the types that they get.
Result<graph::Model> checked(graph::Model model)
{
    auto inferred = infer::storedTypes(model);
    if (inferred.ok())
        return model;
    return unsupported(inferred.error().where, "in ONNX, " + inferred.error().found);
}

} // namespace

Result<graph::Model> toOnnx(const graph::Model &model, const InputFacts &inputs)
{
    HALFTONE_TRY(const infer::ShapeMap shapes, shapesOf(model, inputs));
    HALFTONE_TRY(const infer::TypeMap types, typesOf(model, inputs));
    const Source source{model, shapes, types};
    GraphDraft draft(source,
                     dialect::onnx::onnxDialect(hasBfloat16(model.graph, types) ? kOpsetOfBfloat16 : kOpset));
    std::vector<std::string> missing;
    std::optional<Error> firstError;
    for (const graph::NodeId id : graph::postOrder(model.graph)) {
        if (model.graph.isVariable(id))
            continue;
        const graph::NodeDef &node = model.graph.node(id);
        HALFTONE_TRY(const auto constant, dialect::of(model.graph).constantOf(node));
        if (constant) {
            draft.stand({id, 0, 0}, draft.initializer(node.name, *constant));
            continue;
        }
        HALFTONE_TRY(const ops::Operator op, settledNode(draft, id));
        const WriterRow *const row = rowFor(op);
        if (row == nullptr) {
            if (std::ranges::find(missing, node.op) == missing.end())
                missing.push_back(node.op);
            continue;
        }
        if (!missing.empty())
            continue; // all that lack are told, nothing else matters then
        NodeWriter writer(draft, id);
        if (auto written = row->write(writer, op); !written.ok() && !firstError)
            firstError = std::move(written).error();
    }
    if (!missing.empty())
        return unsupported({}, "operators that have no counterpart in ONNX: " + joined(missing));
    if (firstError)
        return *firstError;
    HALFTONE_TRY(graph::Model made, draft.finish());
    return checked(std::move(made));
}

} // namespace halftone::translate
