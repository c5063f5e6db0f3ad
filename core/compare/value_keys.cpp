#include "core/compare/value_keys.h"

#include "core/dialect/dialect.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace halftone::compare {
namespace {

void mix(std::size_t &seed, std::size_t value)
{
    seed ^= value + 0x9E3779B97F4A7C15U + (seed << 6U) + (seed >> 2U);
}

bool areSame(const tensor::Tensor &a, const tensor::Tensor &b)
{
    if (a.dtype() != b.dtype() || a.shape() != b.shape())
        return false;
    return a.bytes().data() == b.bytes().data() || std::ranges::equal(a.bytes(), b.bytes());
}

bool areSame(const std::vector<std::shared_ptr<const graph::Graph>> &a,
             const std::vector<std::shared_ptr<const graph::Graph>> &b)
{
    return std::ranges::equal(
        a, b, [](const auto &x, const auto &y) { return x == y || compare::areSame(*x, *y); });
}

/// A name decides what data are fed and which numbers an operator draws; that of an inserted cast means nothing.
bool areSame(const graph::NodeDefPtr &a, const graph::NodeDefPtr &b, bool areCasts)
{
    if (a == b)
        return true;
    return a->op == b->op && a->attributes == b->attributes && areSame(a->subgraphs, b->subgraphs)
        && (areCasts || a->name == b->name);
}

} // namespace

bool areSame(const graph::Graph &a, const graph::Graph &b)
{
    if (a.nodeCount() != b.nodeCount() || !std::ranges::equal(a.heads(), b.heads()))
        return false;
    for (graph::NodeId id = 0; id < a.nodeCount(); ++id)
        if (!areSame(a.sharedNode(id), b.sharedNode(id), dialect::isCast(dialect::roleOf(a, id)))
            || !std::ranges::equal(a.inputs(id), b.inputs(id)))
            return false;
    return true;
}

bool Computation::operator==(const Computation &other) const
{
    return shown == other.shown && inputs == other.inputs && outputs == other.outputs
        && isCast == other.isCast && areSame(node, other.node, isCast) && areSame(parameter, other.parameter);
}

std::size_t ValueKeys::Hash::operator()(const Computation &computation) const
{
    std::size_t seed = std::hash<std::string_view>()(computation.node->op);
    if (!computation.isCast)
        mix(seed, std::hash<std::string_view>()(computation.node->name));
    for (const auto &[key, value] : computation.node->attributes) {
        mix(seed, std::hash<std::string_view>()(key));
        mix(seed, std::hash<std::string_view>()(value));
    }
    for (const auto &[key, output] : computation.inputs)
        mix(seed, static_cast<std::size_t>(key) * 31 + output);
    for (const kernels::TensorDesc &output : computation.outputs)
        mix(seed, static_cast<std::size_t>(output.dtype));
    return seed;
}

ValueKeys::Key ValueKeys::of(Computation computation)
{
    const auto [found, isNew] = m_known.try_emplace(std::move(computation));
    if (isNew)
        found->second.key = m_next++;
    found->second.lastAsked = m_generation;
    return found->second.key;
}

std::vector<ValueKeys::Key> ValueKeys::forgetOlderThan(std::uint64_t generations)
{
    std::vector<Key> forgotten;
    for (auto at = m_known.begin(); at != m_known.end();) {
        if (m_generation - at->second.lastAsked <= generations) {
            ++at;
            continue;
        }
        forgotten.push_back(at->second.key);
        at = m_known.erase(at);
    }
    return forgotten;
}

} // namespace halftone::compare
