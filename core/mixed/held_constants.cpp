#include "core/mixed/held_constants.h"

#include "core/dialect/dialect.h"
#include "core/mixed/hold/held_bounds.h"
#include "core/tensor/convert.h"

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
                                    const std::vector<DType> &stored, const std::vector<DType> &narrowed,
                                    bool clamps, FormCache *forms)
{
    ConstantForms made;
    HeldBounds bounds(source);
    for (const NodeId id : plan.order) {
        if (source.isVariable(id) || !source.inputs(id).empty())
            continue;
        const DType native = plan.native[plan.firstOutput[id]];
        const DType to = stored[id] == DType::Unknown ? native : stored[id];
        const DType read = to != native ? to : narrowed[id];
        if (native != DType::F32 || read == DType::Unknown)
            continue;
        HALFTONE_TRY(const auto held, dialect::of(source).constantOf(source.node(id)));
        if (!held)
            continue;
        auto above = bounds.held(id, *held, read, to);
        const bool isHeld = above.has_value();
        if (to == native) { // read through a cast
            if (isHeld)
                made.stored.push_back({id, native, to, tensor::CastReport(), false, true});
        } else {
            HALFTONE_TRY(FormCache::Form form, castForm(*held, to, source.node(id).name, forms));
            const bool isClamped = clamps && form.losses.overflowed > 0;
            made.stored.push_back({id, native, to, form.losses, isClamped, isHeld});
            if (!isHeld)
                above = isClamped ? tensor::clampedTo(*held, to) : std::move(form.values);
        }
        if (above)
            made.definitions.emplace(
                id, dialect::of(source).withConstant(source.sharedNode(id), std::move(*above)));
    }
    return made;
}

} // namespace halftone::mixed
