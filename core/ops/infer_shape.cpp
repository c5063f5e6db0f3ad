#include "core/ops/infer_shape.h"

#include "core/ops/shape_rules.h"

namespace halftone::ops {

Result<void> infer(const Opaque &, ShapeSlots &)
{
    return {};
}

Result<void> infer(const ControlFlow &, ShapeSlots &)
{
    return {};
}

Result<bool> inferShapes(const Operator &op, std::span<tensor::Shape> inputs,
                         std::span<tensor::Shape> outputs)
{
    ShapeSlots slots(inputs, outputs);
    HALFTONE_CHECK(visit([&](const auto &alternative) { return infer(alternative, slots); }, op));
    return slots.changed();
}

} // namespace halftone::ops
