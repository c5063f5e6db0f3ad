#include "core/mixed/held_constants.h"

#include "core/dialect/dialect.h"
#include "core/mixed/hold/held_bounds.h"
#include "core/tensor/convert.h"
#include "core/tensor/held_above_zero.h"

namespace halftone::mixed {
namespace {

using graph::NodeId;
using tensor::DType;
using tensor::FormCache;
using tensor::Tensor;

Result<FormCache::Form> castForm(const Tensor &values, DType type, const std::string &node, FormCache *forms)
{
    if (const FormCache::Form *const known = forms ? forms->find(values, type) : nullptr)
        return *known;
    FormCache::Form form;
    auto cast = tensor::castTo(values, type, &form.losses);
    if (!cast.ok()) {
        Error error = std::move(cast).error();
        error.where = node;
        return error;
    }
    form.values = std::move(cast).value();
    if (forms != nullptr)
        forms->keep(values, type, form);
    return form;
}

} // namespace

std::vector<bool> realConstants(const graph::Graph &source)
{
    std::vector<bool> holds(source.nodeCount(), false);
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id) || !source.inputs(id).empty())
            continue;
        const auto held = dialect::of(source).constantOf(source.node(id));
        holds[id] = held.ok() && held.value() && held.value()->dtype() == DType::F32;
    }
    return holds;
}

Result<ConstantForms> castConstants(const graph::Graph &source, const TypedPlan &plan,
                                    const std::vector<DType> &stored, bool clamps, FormCache *forms)
{
    ConstantForms made;
    const std::vector<bool> bounds = findBounds(source);
    for (const NodeId id : plan.order) {
        const DType native = plan.native[plan.firstOutput[id]];
        if (source.isVariable(id) || stored[id] == DType::Unknown || stored[id] == native)
            continue;
        HALFTONE_TRY(const auto held, dialect::of(source).constantOf(source.node(id)));
        HALFTONE_TRY(FormCache::Form form, castForm(*held, stored[id], source.node(id).name, forms));
        const bool isClamped = clamps && form.losses.overflowed > 0;
        if (isClamped)
            form.values = tensor::clampedTo(*held, stored[id]);
        auto above = bounds[id] ? tensor::heldAboveZero(*held, stored[id]) : std::nullopt;
        const bool isHeld = above.has_value();
        if (isHeld)
            form.values = std::move(*above);
        made.stored.push_back({id, native, stored[id], form.losses, isClamped, isHeld});
        made.definitions.emplace(
            id, dialect::of(source).withConstant(source.sharedNode(id), std::move(form.values)));
    }
    return made;
}

} // namespace halftone::mixed
