#include "core/ops/shape_slots.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace halftone::ops {

using tensor::Shape;

const Shape ShapeSlots::kNone;

namespace {

std::string positionText(std::string_view what, std::size_t position)
{
    return std::string(what) + ' ' + std::to_string(position);
}

} // namespace

Result<void> ShapeSlots::setInput(std::size_t i, const Shape &shape)
{
    return i < m_inputs.size() ? merge(m_inputs[i], shape, "input", i) : Result<void>();
}

Result<void> ShapeSlots::setOutput(std::size_t i, const Shape &shape)
{
    return i < m_outputs.size() ? merge(m_outputs[i], shape, "output", i) : Result<void>();
}

Result<void> ShapeSlots::setInput(std::size_t i, const std::vector<Dim> &dims)
{
    HALFTONE_TRY(const Shape shape, checked(dims, "input", i));
    return setInput(i, shape);
}

Result<void> ShapeSlots::setOutput(std::size_t i, const std::vector<Dim> &dims)
{
    HALFTONE_TRY(const Shape shape, checked(dims, "output", i));
    return setOutput(i, shape);
}

Result<void> ShapeSlots::unify(std::size_t i, std::size_t o)
{
    HALFTONE_CHECK(setOutput(o, input(i)));
    return setInput(i, output(o));
}

Error ShapeSlots::wrongInput(std::size_t i, std::string expected) const
{
    return badInput("input " + std::to_string(i), "shape " + input(i).toString(), std::move(expected));
}

Result<void> ShapeSlots::needRank(std::size_t i, std::size_t rank) const
{
    if (input(i).hasRank() && input(i).rank() != rank)
        return wrongInput(i, "rank " + std::to_string(rank));
    return {};
}

Result<void> ShapeSlots::merge(Shape &into, const Shape &from, std::string_view what, std::size_t position)
{
    if (!from.hasRank())
        return {};
    if (from.rank() > kMaxRank)
        return badInput(positionText(what, position), "rank " + std::to_string(from.rank()), "at most 32");
    if (!into.hasRank()) {
        into = from;
        m_changed = true;
        return {};
    }
    const auto contradicts = [](std::int64_t a, std::int64_t b) { return a >= 0 && b >= 0 && a != b; };
    if (into.rank() != from.rank()
        || !std::ranges::equal(into.dims(), from.dims(), std::not_fn(contradicts))) {
        return badInput(positionText(what, position), "shape " + into.toString(), from.toString());
    }
    for (std::size_t axis = 0; axis < into.rank(); ++axis) {
        if (into[axis] < 0 && from[axis] >= 0) {
            into[axis] = from[axis];
            m_changed = true;
        }
    }
    return {};
}

Result<Shape> ShapeSlots::checked(const std::vector<Dim> &dims, std::string_view what, std::size_t position)
{
    std::vector<std::int64_t> values;
    values.reserve(dims.size());
    for (const Dim &dim : dims) {
        if (dim.isOutOfRange() || (dim.isKnown() && dim.value() < 0)) {
            return badInput(positionText(what, position),
                            "dimension " + std::to_string(values.size()) + " would be "
                                + (dim.isKnown() ? std::to_string(dim.value()) : "out of range"),
                            "0 to 2^63 - 1");
        }
        values.push_back(dim.orUnknown());
    }
    return Shape(std::move(values));
}

Error badAttribute(std::string_view name, std::string found, std::string expected)
{
    return badInput(std::string(name), std::move(found), std::move(expected));
}

Result<std::size_t> resolveAxis(std::int64_t axis, std::size_t rank)
{
    const auto signedRank = static_cast<std::int64_t>(rank);
    if (axis < -signedRank || axis >= signedRank) {
        return badAttribute("axis", std::to_string(axis),
                            std::to_string(-signedRank) + " to " + std::to_string(signedRank - 1));
    }
    return static_cast<std::size_t>(axis < 0 ? axis + signedRank : axis);
}

Result<std::vector<std::size_t>> resolveAxes(std::span<const std::int64_t> axes, std::size_t rank)
{
    std::vector<std::size_t> resolved;
    if (axes.size() > rank)
        return badAttribute("axis", std::to_string(axes.size()) + " axes", "at most " + std::to_string(rank));
    for (const std::int64_t axis : axes) {
        HALFTONE_TRY(const std::size_t at, resolveAxis(axis, rank));
        resolved.push_back(at);
    }
    std::ranges::sort(resolved);
    if (const auto twice = std::ranges::adjacent_find(resolved); twice != resolved.end())
        return badAttribute("axis", std::to_string(*twice) + " twice", "each axis once");
    return resolved;
}

Result<void> needAtLeast(std::string_view name, std::int64_t value, std::int64_t least)
{
    if (value < least)
        return badAttribute(name, std::to_string(value), std::to_string(least) + " or more");
    return {};
}

std::vector<Dim> dimsOf(const Shape &shape)
{
    std::vector<Dim> dims;
    dims.reserve(shape.rank() + 2);
    for (const std::int64_t dim : shape.dims())
        dims.push_back(Dim::of(dim));
    return dims;
}

std::vector<Dim> dimsOr(const Shape &shape, std::size_t rank)
{
    return shape.hasRank() ? dimsOf(shape) : std::vector<Dim>(rank, Dim::unknown());
}

Dim product(const Shape &shape, std::size_t first, std::size_t end)
{
    Dim result = 1;
    for (std::size_t axis = first; axis < end; ++axis)
        result = result * Dim::of(shape[axis]);
    return result;
}

} // namespace halftone::ops
