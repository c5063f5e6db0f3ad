#include "core/dialect/dialect.h"
#include "core/infer/body_binding.h"
#include "core/infer/shape_walk.h"
#include "core/ops/shape_slots.h"

#include <algorithm>

namespace halftone::infer {
namespace {

using tensor::Shape;

/// `axis` counts from the end where it is negative; -1 where `rank` has no such axis.
std::int64_t placeOf(std::int64_t axis, std::size_t rank)
{
    const auto count = static_cast<std::int64_t>(rank);
    const std::int64_t place = axis < 0 ? axis + count : axis;
    return place < count ? std::max<std::int64_t>(place, -1) : -1;
}

Shape withoutAxis(const Shape &shape, std::int64_t axis)
{
    const std::int64_t place = shape.hasRank() ? placeOf(axis, shape.rank()) : -1;
    if (place < 0)
        return {};
    std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims.erase(dims.begin() + place);
    return Shape(std::move(dims));
}

Shape withAxis(std::int64_t extent, const Shape &shape, std::int64_t axis)
{
    const std::int64_t place = shape.hasRank() ? placeOf(axis, shape.rank() + 1) : -1;
    if (place < 0)
        return {};
    std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims.insert(dims.begin() + place, extent);
    return Shape(std::move(dims));
}

/// What holds of both.
Shape common(const Shape &a, const Shape &b)
{
    if (!a.hasRank() || !b.hasRank() || a.rank() != b.rank())
        return {};
    std::vector<std::int64_t> dims(a.dims().begin(), a.dims().end());
    for (std::size_t k = 0; k < dims.size(); ++k)
        dims[k] = a[k] == b[k] ? a[k] : Shape::kUnknown;
    return Shape(std::move(dims));
}

/// The number of steps, which every sliced input tells.
std::int64_t stepCount(const BodyBinding &binding, const BoundBody &body, const ops::ShapeSlots &slots)
{
    for (const BoundBody::Tie &tie : body.ties) {
        const Shape &shape = slots.input(tie.input);
        const std::int64_t place
            = tie.sliced && shape.hasRank() ? placeOf(tie.axis, shape.rank()) : std::int64_t{-1};
        if (place >= 0 && shape[static_cast<std::size_t>(place)] >= 0)
            return shape[static_cast<std::size_t>(place)];
    }
    return binding.mostSteps < 0 ? Shape::kUnknown : binding.mostSteps;
}

Shape declared(const graph::Graph &body, graph::NodeId variable)
{
    return dialect::of(body).declaredShape(body, body.node(variable));
}

/// The shapes in a body. `isOpen`: by input, whether nothing is to be taken from its shape.
Result<ShapeMap> walkBody(const BoundBody &body, const ops::ShapeSlots &slots,
                          const std::vector<bool> &isOpen, int depth)
{
    std::vector<Shape> variables(body.graph->nodeCount());
    for (const BoundBody::Tie &tie : body.ties) {
        const Shape &shape = slots.input(tie.input);
        variables[tie.variable] = isOpen[tie.input] ? declared(*body.graph, tie.variable)
            : tie.sliced                            ? withoutAxis(shape, tie.axis)
                                                    : shape;
    }
    for (const BoundBody::Given &given : body.given) { // one number
        const Shape written = declared(*body.graph, given.variable);
        variables[given.variable] = written.hasRank() ? written : Shape(std::vector<std::int64_t>());
    }
    return walkShapes(*body.graph, variables, depth);
}

/// Inputs whose shape may be another one in the next step: those that are carried and come out in a shape that is not, or not
/// surely, the one in which they came.
Result<std::vector<bool>> openInputs(const BodyBinding &binding, const BoundBody &body,
                                     const ops::ShapeSlots &slots, int depth)
{
    std::vector<bool> isOpen(slots.inputCount(), false);
    if (!binding.shapesMayChange)
        return isOpen;
    for (bool changed = true; changed;) {
        changed = false;
        const auto shapes = walkBody(body, slots, isOpen, depth);
        for (const BodyBinding::Carried &carried : binding.carried) {
            if (isOpen[carried.input])
                continue;
            const bool stays = shapes.ok() && slots.input(carried.input).isComplete()
                && shapes.value().of(body.graph->heads()[body.firstHead + carried.output])
                    == slots.input(carried.input);
            isOpen[carried.input] = !stays;
            changed = changed || !stays;
        }
    }
    return isOpen;
}

Result<void> inferBody(const BodyBinding &binding, const BoundBody &body, ops::ShapeSlots &slots, int depth)
{
    HALFTONE_TRY(const std::vector<bool> isOpen, openInputs(binding, body, slots, depth));
    HALFTONE_TRY(const ShapeMap shapes, walkBody(body, slots, isOpen, depth));
    for (const BoundBody::Tie &tie : body.ties) {
        const Shape &learnt = shapes.byNode[tie.variable][0];
        if (!isOpen[tie.input])
            HALFTONE_CHECK(
                slots.setInput(tie.input, tie.sliced ? withAxis(Shape::kUnknown, learnt, tie.axis) : learnt));
    }
    if (body.role != BoundBody::Role::Result)
        return {};
    const std::int64_t steps = stepCount(binding, body, slots);
    const auto heads = body.graph->heads();
    for (std::size_t i = 0; i < std::min(body.outputCount(), slots.outputCount()); ++i) {
        const bool changes = std::ranges::any_of(binding.carried, [&](const BodyBinding::Carried &carried) {
            return carried.output == i && isOpen[carried.input];
        });
        const Shape &made = shapes.of(heads[body.firstHead + i]);
        if (!changes)
            HALFTONE_CHECK(
                slots.setOutput(i, body.isStacked(i) ? withAxis(steps, made, body.stackOf(i).axis) : made));
    }
    return {};
}

/// Of two bodies one will run, which nothing tells yet: the outputs are what holds of both. A body that contradicts itself with
/// these inputs is the one that will not.
Result<void> inferChoice(const BodyBinding &binding, ops::ShapeSlots &slots, int depth)
{
    std::vector<std::vector<Shape>> made;
    for (const BoundBody &body : binding.bodies) {
        const auto shapes = walkBody(body, slots, std::vector<bool>(slots.inputCount(), false), depth);
        if (!shapes.ok())
            return {};
        std::vector<Shape> &outputs = made.emplace_back();
        for (const graph::Entry &head : body.graph->heads())
            outputs.push_back(shapes.value().of(head));
    }
    for (std::size_t i = 0; i < std::min(made[0].size(), made[1].size()); ++i)
        HALFTONE_CHECK(slots.setOutput(i, common(made[0][i], made[1][i])));
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
    if (binding.isBatched || binding.isMapped) // known when it runs
        return false;
    if (binding.choice)
        HALFTONE_CHECK(inferChoice(binding, slots, depth));
    for (std::size_t k = 0; !binding.choice && k < binding.bodies.size(); ++k)
        HALFTONE_CHECK(inferBody(binding, binding.bodies[k], slots, depth));
    for (const BodyBinding::Carried &carried : binding.carried)
        if (!binding.shapesMayChange)
            HALFTONE_CHECK(slots.unify(carried.input, carried.output));
    if (binding.isQuantized && !binding.bodies.empty())
        HALFTONE_CHECK(setRanges(binding.bodies[0], slots));
    return slots.changed();
}

} // namespace halftone::infer
