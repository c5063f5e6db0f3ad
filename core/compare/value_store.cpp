#include "core/compare/value_store.h"

#include "core/compare/value_spans.h"

#include <algorithm>

namespace halftone::compare {

std::size_t ValueStore::bytes() const
{
    std::size_t bytes = 0;
    for (const KeptValues &ofBatch : m_values) {
        for (const auto &[key, tensors] : ofBatch)
            bytes += bytesOf(tensors);
    }
    return bytes;
}

double ValueStore::missingBytes(std::size_t batch, const graph::Graph &graph, const KeptPlan &plan) const
{
    double bytes = 0;
    for (const graph::NodeId id : plan.order) {
        if (!graph.isVariable(id) && !m_values[batch].contains(plan.keys[id]))
            bytes += static_cast<double>(plan.bytes[id]);
    }
    return bytes;
}

void ValueStore::rememberHeads(const graph::Graph &graph, const KeptPlan &plan)
{
    for (const graph::Entry &head : graph.heads())
        m_heads.insert(plan.keys[head.node]);
}

bool ValueStore::hasHeads(std::size_t batch, const graph::Graph &graph, const KeptPlan &plan) const
{
    return std::ranges::all_of(graph.heads(), [&](const graph::Entry &head) {
        return m_values[batch].contains(plan.keys[head.node]);
    });
}

std::vector<tensor::Tensor> ValueStore::headsOf(std::size_t batch, const graph::Graph &graph,
                                                const KeptPlan &plan) const
{
    std::vector<tensor::Tensor> heads;
    for (const graph::Entry &head : graph.heads())
        heads.push_back(m_values[batch].at(plan.keys[head.node])[head.output]);
    return heads;
}

bool ValueStore::makeRoom(const std::unordered_set<Key> &needed, std::size_t bytes, std::size_t others,
                          std::size_t limit)
{
    if (others + bytes > limit) {
        m_values.assign(m_values.size(), {});
        return false;
    }
    const std::size_t room = (limit - others) / std::max<std::size_t>(bytes, 1);
    const bool hasAll = room >= m_values.size();
    m_keptBatches = hasAll ? m_values.size() : room - 1; // beside the one in hand
    const std::size_t held = others + (m_keptBatches + (hasAll ? 0 : 1)) * bytes;
    const auto eraseOldUnless = [&](const auto &isKept) {
        std::size_t old = 0;
        for (KeptValues &ofBatch : m_values) {
            std::erase_if(ofBatch, [&](const auto &value) {
                return !needed.contains(value.first) && !isKept(value.first);
            });
            for (const auto &[key, tensors] : ofBatch)
                old += needed.contains(key) ? 0 : bytesOf(tensors);
        }
        return held + old <= limit;
    };
    for (std::size_t batch = 0; batch < m_values.size(); ++batch)
        release(batch);
    if (!eraseOldUnless([](Key) { return true; })
        && !eraseOldUnless([&](Key key) { return m_heads.contains(key); }))
        eraseOldUnless([](Key) { return false; });
    return true;
}

void ValueStore::release(std::size_t batch)
{
    if (!keepsAll(batch))
        std::erase_if(m_values[batch], [this](const auto &value) { return !m_heads.contains(value.first); });
}

void ValueStore::keepOnly(std::size_t batch, const std::unordered_set<Key> &keys)
{
    std::erase_if(m_values[batch], [&](const auto &value) {
        return !m_heads.contains(value.first) && !(keepsAll(batch) && keys.contains(value.first));
    });
}

void ValueStore::forget(const std::unordered_set<Key> &keys)
{
    for (KeptValues &ofBatch : m_values)
        std::erase_if(ofBatch, [&](const auto &value) { return keys.contains(value.first); });
    std::erase_if(m_heads, [&](Key key) { return keys.contains(key); });
}

} // namespace halftone::compare
