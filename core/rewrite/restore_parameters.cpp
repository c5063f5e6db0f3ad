#include "core/rewrite/restore_parameters.h"

#include "core/dialect/dialect.h"
#include "core/tensor/convert.h"
#include "core/tensor/held_above_zero.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace halftone::rewrite {
namespace {

using tensor::DType;
using tensor::Tensor;

bool areEqual(const Tensor &a, const Tensor &b)
{
    return a.dtype() == b.dtype() && a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes());
}

/// Would a conversion have made `rounded` of the original? It rounds, and may clamp what is too large and hold bounds above 0.
bool comesOf(const Tensor &rounded, const Tensor &original)
{
    const auto cast = tensor::castTo(original, rounded.dtype());
    if (!cast.ok())
        return false;
    if (areEqual(cast.value(), rounded) || areEqual(tensor::clampedTo(original, rounded.dtype()), rounded))
        return true;
    const auto held = tensor::heldAboveZero(original, rounded.dtype(), rounded.dtype());
    return held && areEqual(*held, rounded);
}

Result<void> checkOrigin(const tensor::Array &stored, const tensor::Array &original)
{
    if (stored.shape != original.shape)
        return badInput(stored.name, "the shape of the float32 array differs",
                        "the shape of the 16-bit array");
    if (!comesOf(stored.values, original.values))
        return badInput(stored.name, "the 16-bit values were not rounded from this float32 array",
                        "the parameters of the original model");
    return {};
}

/// Is it what a 16-bit type left of the original, told in float32?
bool isRoundedFrom(const Tensor &held, const Tensor &original)
{
    return held.shape() == original.shape() && !areEqual(held, original)
        && std::ranges::any_of(std::array{DType::F16, DType::BF16}, [&](DType type) {
               const auto narrow = tensor::castTo(held, type);
               return narrow.ok() && comesOf(narrow.value(), original);
           });
}

/// A bound that is read through a cast, and was stored above 0 for that (core/mixed/RULES.md, M-bounds).
bool isHeldBound(const Tensor &stored, const Tensor &original)
{
    return stored.dtype() == DType::F32 && stored.elementCount() == 1 && isRoundedFrom(stored, original);
}

/// Constants by the names of what they give; nothing where several have one name.
using Constants = std::unordered_map<std::string, std::optional<Tensor>>;

std::optional<Tensor> constantOf(const graph::Graph &graph, graph::NodeId id)
{
    if (graph.isVariable(id) || !graph.inputs(id).empty())
        return std::nullopt;
    auto held = dialect::of(graph).constantOf(graph.node(id));
    return held.ok() && held.value() && held.value()->dtype() == DType::F32 ? std::move(held).value()
                                                                            : std::nullopt;
}

void collectConstants(const graph::Graph &graph, Constants &constants)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (auto held = constantOf(graph, id)) {
            const auto [at, fresh]
                = constants.try_emplace(dialect::of(graph).entryName(graph, {id, 0, 0}), std::move(held));
            if (!fresh)
                at->second.reset();
        }
        for (const auto &body : graph.node(id).subgraphs)
            collectConstants(*body, constants);
    }
}

graph::Graph withOriginals(const graph::Graph &graph, const Constants &originals, std::size_t &changed)
{
    return graph::Graph::inDialect(
        graph, dialect::of(graph), [&](const graph::Graph &from, graph::NodeId id) -> graph::NodeDefPtr {
            const auto held = constantOf(from, id);
            const auto original
                = held ? originals.find(dialect::of(from).entryName(from, {id, 0, 0})) : originals.end();
            if (original == originals.end() || !original->second || !isRoundedFrom(*held, *original->second))
                return from.sharedNode(id);
            ++changed;
            return dialect::of(from).withConstant(from.sharedNode(id), *original->second);
        });
}

} // namespace

Result<Rewritten> restoreParameters(const graph::Model &model, const graph::Model &original,
                                    const Progress &progress)
{
    std::unordered_map<std::string_view, const tensor::Array *> byName;
    for (const tensor::Array &array : original.parameters) {
        if (array.values.dtype() == DType::F32)
            byName.insert_or_assign(dialect::variableOf(model.graph, array.name), &array);
    }
    Rewritten result{model, 0, {}};
    std::size_t left = 0;
    for (tensor::Array &array : result.model.parameters) {
        const auto found = byName.find(dialect::variableOf(model.graph, array.name));
        if (!tensor::isHalf(array.values.dtype())) {
            if (found != byName.end() && isHeldBound(array.values, found->second->values)) {
                array.values = found->second->values;
                ++result.changed;
            }
            continue;
        }
        HALFTONE_CHECK(progress.checkStop());
        if (found == byName.end()) {
            ++left;
            continue;
        }
        HALFTONE_CHECK(checkOrigin(array, *found->second));
        array.values = found->second->values;
        ++result.changed;
    }
    Constants constants;
    if (original.graph.dialect() != nullptr)
        collectConstants(original.graph, constants);
    if (!constants.empty()) {
        std::size_t restored = 0;
        graph::Graph graph = withOriginals(model.graph, constants, restored);
        if (restored > 0)
            result.model.graph = std::move(graph);
        result.changed += restored;
    }
    if (left > 0)
        result.notes.push_back(std::to_string(left) + " parameters in 16 bit have no float32 original");
    return result;
}

} // namespace halftone::rewrite
