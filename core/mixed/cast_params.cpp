#include "core/mixed/cast_params.h"

#include "core/base/share_work.h"
#include "core/dialect/dialect.h"
#include "core/mixed/hold/held_bounds.h"
#include "core/rewrite/nested_conversions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace halftone::mixed {
namespace {

using Form = tensor::FormCache::Form;

constexpr std::size_t kBytesAThread = std::size_t{1} << 20; ///< below that a thread costs more than it does

/// An array that is to be stored in another type.
struct Wanted
{
    std::size_t index = 0;
    tensor::DType to = tensor::DType::Unknown;
    std::optional<Result<tensor::Tensor>> cast; ///< nothing where a form of it was known
    tensor::CastReport losses;
    graph::NodeId variable = 0;
};

std::vector<Wanted> wantedOf(std::span<const tensor::Array> arrays, const graph::Graph &source,
                             const rewrite::Conversion &conversion)
{
    std::unordered_map<std::string_view, const rewrite::StoredParameter *> stored;
    for (const rewrite::StoredParameter &parameter : conversion.parameters)
        if (!parameter.losses) // a constant is cast already
            stored.emplace(source.node(parameter.variable).name, &parameter);
    std::vector<Wanted> wanted;
    if (stored.empty())
        return wanted;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        const auto found = stored.find(dialect::variableOf(source, arrays[k].name));
        const tensor::DType from = arrays[k].values.dtype();
        if (found != stored.end() && from != found->second->to && from != tensor::DType::Unknown)
            wanted.push_back({k, found->second->to, {}, {}, found->second->variable});
    }
    return wanted;
}

/// Bounds that stay float32 and are read through casts.
void holdBehindCasts(const graph::Graph &source, const rewrite::Conversion &conversion, HeldBounds &bounds,
                     CastParameters &result)
{
    const std::vector<tensor::DType> narrowed = narrowedTypes(source, conversion);
    std::unordered_map<std::string_view, graph::NodeId> variables;
    for (graph::NodeId id = 0; id < source.nodeCount(); ++id)
        if (source.isVariable(id) && narrowed[id] != tensor::DType::Unknown)
            variables.emplace(source.node(id).name, id);
    if (variables.empty())
        return;
    for (tensor::Array &array : result.arrays) {
        const auto variable = variables.find(dialect::variableOf(source, array.name));
        if (variable == variables.end() || array.values.dtype() != tensor::DType::F32)
            continue;
        auto held
            = bounds.held(variable->second, array.values, narrowed[variable->second], tensor::DType::F32);
        if (!held)
            continue;
        array.values = std::move(*held);
        ParameterChange change{array.name, tensor::DType::F32, tensor::DType::F32, {}};
        change.count = array.values.elementCount();
        change.isHeld = true;
        result.changes.push_back(std::move(change));
    }
}

/// On all of the machine's threads where that is worth it. fails: Cancelled
Result<void> castAll(std::span<const tensor::Array> arrays, std::span<Wanted *const> wanted,
                     const Progress &progress)
{
    std::size_t bytes = 0;
    for (const Wanted *one : wanted)
        bytes += arrays[one->index].values.byteCount();
    const auto threads = std::min<std::size_t>(machineThreads(), 1 + bytes / kBytesAThread);
    shareParts(static_cast<unsigned>(threads), wanted.size(), [&](std::size_t k, unsigned thread) {
        if (thread == 0)
            progress.tell(static_cast<double>(k) / static_cast<double>(wanted.size()), "casting parameters");
        Wanted &one = *wanted[k];
        one.cast = tensor::castLater(arrays[one.index].values, one.to, &one.losses);
        return !progress.stopped();
    });
    return progress.checkStop();
}

} // namespace

Result<CastParameters> castParams(std::span<const tensor::Array> arrays, const graph::Graph &source,
                                  const rewrite::Conversion &conversion, bool clamps, bool holds,
                                  tensor::FormCache &forms, const Progress &progress)
{
    std::vector<Wanted> wanted = wantedOf(arrays, source, conversion);
    HeldBounds bounds(source, holds);
    std::vector<Wanted *> unknown;
    for (Wanted &one : wanted)
        if (forms.find(arrays[one.index].values, one.to) == nullptr)
            unknown.push_back(&one);
    HALFTONE_CHECK(castAll(arrays, unknown, progress));
    CastParameters result;
    result.arrays.assign(arrays.begin(), arrays.end());
    for (Wanted &one : wanted) {
        tensor::Array &array = result.arrays[one.index];
        if (one.cast && !one.cast->ok()) {
            Error error = std::move(*one.cast).error();
            error.where = array.name;
            return error;
        }
        const Form form
            = one.cast ? Form{std::move(*one.cast).value(), one.losses} : *forms.find(array.values, one.to);
        if (one.cast)
            forms.keep(array.values, one.to, form); // which keeps none without values
        ParameterChange change{array.name, array.values.dtype(), one.to, form.losses};
        change.isClamped = clamps && change.losses.overflowed > 0 && change.to != tensor::DType::F32;
        change.count = array.values.elementCount();
        auto held = bounds.held(one.variable, array.values, one.to, one.to);
        change.isHeld = held.has_value();
        array.values = held    ? std::move(*held)
            : change.isClamped ? tensor::clampedTo(array.values, one.to)
                               : form.values;
        result.changes.push_back(std::move(change));
    }
    holdBehindCasts(source, conversion, bounds, result);
    return result;
}

void listConstants(const graph::Graph &source, const rewrite::Conversion &conversion,
                   std::vector<ParameterChange> &changes)
{
    rewrite::forConversions(source, conversion, [&changes](const graph::Graph &of, const auto &made) {
        for (const rewrite::StoredParameter &stored : made.parameters)
            if (stored.losses)
                changes.push_back({dialect::of(of).entryName(of, {stored.variable, 0, 0}), stored.from,
                                   stored.to, *stored.losses, stored.isClamped, 0, stored.isHeld});
    });
}

} // namespace halftone::mixed
