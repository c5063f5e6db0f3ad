#include "core/rewrite/simplify_shapes.h"

#include "core/dialect/dialect.h"
#include "core/infer/known_shapes.h"
#include "core/infer/static_shapes.h"
#include "core/infer/stored_types.h"
#include "core/rewrite/hold_values.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace halftone::rewrite {
namespace {

using graph::NodeId;
using tensor::DType;
using tensor::Shape;

/// The target of a reshape in constant words, if it can be said so.
std::optional<infer::StaticNumbers> targetOf(const ops::Reshape &reshape, const graph::Entry &data,
                                             const infer::StaticNumbers &wanted)
{
    infer::StaticNumbers target;
    bool infers = std::ranges::any_of(
        wanted.values, [](const infer::StaticNumber &number) { return number.value == std::int64_t{-1}; });
    const bool hasZero = std::ranges::any_of(
        wanted.values, [](const infer::StaticNumber &number) { return number.value == std::int64_t{0}; });
    for (std::size_t axis = 0; axis < wanted.values.size(); ++axis) {
        const infer::StaticNumber &number = wanted.values[axis];
        const bool isKept = number.axis == axis && number.tensor == data && !reshape.zeroIsExtent;
        const bool mayInfer = !infers && !(hasZero && reshape.zeroIsExtent);
        if (number.value)
            target.values.push_back(number);
        else if (isKept)
            target.values.push_back({0});
        else if (mayInfer)
            target.values.push_back({-1});
        else
            return std::nullopt;
        infers = infers || (!number.value && !isKept);
    }
    return target;
}

} // namespace

Result<Rewritten> simplifyShapes(const graph::Model &model, const RewriteRequest &request)
{
    const graph::Graph &graph = model.graph;
    const dialect::Dialect &dialect = dialect::of(graph);
    HALFTONE_TRY(infer::ShapeMap shapes, infer::inferShapes(graph, infer::withParameterShapes({}, model)));
    graph::Model fixed = model;
    std::erase_if(fixed.parameters, [&](const tensor::Array &array) {
        return request.replaceable.contains(dialect::variableOf(graph, array.name));
    });
    HALFTONE_TRY(const infer::StaticValues known, infer::staticValues(fixed, std::move(shapes)));
    HALFTONE_TRY(const infer::TypeMap types, infer::storedTypes(model));
    HeldValues values(graph);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        HALFTONE_CHECK(request.progress.checkStop());
        const auto constant = dialect.constantOf(graph.node(id));
        if (graph.isVariable(id) || graph.inputs(id).empty() || (constant.ok() && constant.value()))
            continue;
        const auto &numbers = known.numbers[id];
        if (numbers && numbers->isWhole && numbers->isKnown()) {
            if (auto held = numbers->tensorOf(types.of({id, 0, 0})))
                values.hold({id, 0, 0}, *std::move(held));
            continue;
        }
        const auto kind = dialect.readKind(graph.node(id));
        const auto *const reshape = kind.ok() ? kind.value().getIf<ops::Reshape>() : nullptr;
        if (reshape == nullptr || graph.inputs(id).size() < 2 || graph.inputs(id)[1].output != 0)
            continue;
        const graph::Entry data = graph.inputs(id)[0];
        const auto &wanted = known.numbers[graph.inputs(id)[1].node];
        if (!wanted || wanted->isScalar || !wanted->isWhole || wanted->isKnown())
            continue;
        if (const auto target = targetOf(*reshape, data, *wanted))
            values.feed(id, 1, *target->tensorOf(DType::I64));
    }
    return values.build(model);
}

} // namespace halftone::rewrite
