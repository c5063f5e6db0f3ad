#include "core/infer/body_binding.h"
#include "core/infer/shape_walk.h"
#include "core/ops/shape_slots.h"

#include <algorithm>

namespace halftone::infer {
namespace {

using tensor::Shape;

Shape withoutFirst(const Shape &shape)
{
    if (!shape.hasRank() || shape.rank() == 0)
        return {};
    return Shape(std::vector<std::int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

Shape withFirst(std::int64_t first, const Shape &shape)
{
    if (!shape.hasRank())
        return {};
    std::vector<std::int64_t> dims{first};
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    return Shape(std::move(dims));
}

/// The number of steps, which every sliced input tells.
std::int64_t stepCount(const BodyBinding &binding, const BoundBody &body, const ops::ShapeSlots &slots)
{
    for (const BoundBody::Tie &tie : body.ties) {
        const Shape &shape = slots.input(tie.input);
        if (tie.sliced && shape.hasRank() && shape.rank() > 0 && shape[0] >= 0)
            return shape[0];
    }
    return binding.mostSteps < 0 ? Shape::kUnknown : binding.mostSteps;
}

Result<void> inferBody(const BodyBinding &binding, const BoundBody &body, ops::ShapeSlots &slots, int depth)
{
    std::vector<Shape> variables(body.graph->nodeCount());
    for (const BoundBody::Tie &tie : body.ties) {
        const Shape &shape = slots.input(tie.input);
        variables[tie.variable] = tie.sliced ? withoutFirst(shape) : shape;
    }
    HALFTONE_TRY(const ShapeMap shapes, walkShapes(*body.graph, variables, depth));
    for (const BoundBody::Tie &tie : body.ties) {
        const Shape &learnt = shapes.byNode[tie.variable][0];
        HALFTONE_CHECK(slots.setInput(tie.input, tie.sliced ? withFirst(Shape::kUnknown, learnt) : learnt));
    }
    if (body.role != BoundBody::Role::Result)
        return {};
    const std::int64_t steps = stepCount(binding, body, slots);
    const auto heads = body.graph->heads();
    for (std::size_t i = 0; i < std::min(heads.size(), slots.outputCount()); ++i) {
        const Shape &made = shapes.of(heads[i]);
        HALFTONE_CHECK(slots.setOutput(i, i < body.stacked ? withFirst(steps, made) : made));
    }
    return {};
}

/// The ends of the ranges behind the inputs and outputs of a quantized body.
Result<void> setRanges(const BoundBody &body, ops::ShapeSlots &slots)
{
    for (std::size_t i = body.ties.size(); i < slots.inputCount(); ++i)
        HALFTONE_CHECK(slots.setInput(i, Shape{1}));
    for (std::size_t i = body.graph->heads().size(); i < slots.outputCount(); ++i)
        HALFTONE_CHECK(slots.setOutput(i, Shape{1}));
    return {};
}

} // namespace

Result<bool> inferBodyShapes(const graph::Graph &graph, graph::NodeId id, std::span<Shape> inputs,
                             std::span<Shape> outputs, int depth)
{
    if (depth > kMaxBodyDepth)
        return false;
    HALFTONE_TRY(const BodyBinding binding, bindBodies(graph, id, outputs.size()));
    ops::ShapeSlots slots(inputs, outputs);
    for (const BoundBody &body : binding.bodies)
        HALFTONE_CHECK(inferBody(binding, body, slots, depth));
    for (const BodyBinding::Carried &carried : binding.carried)
        HALFTONE_CHECK(slots.unify(carried.input, carried.output));
    if (binding.isQuantized && !binding.bodies.empty())
        HALFTONE_CHECK(setRanges(binding.bodies[0], slots));
    return slots.changed();
}

} // namespace halftone::infer
