#include "core/kernels/plan_cache.h"

namespace halftone::kernels {

void PlanCache::beginPlan()
{
    ++m_plan;
    std::erase_if(m_entries, [this](const auto &item) {
        return !item.second.value || item.second.lastPlan + kPlansKept < m_plan;
    });
}

PlanCache::Entry &PlanCache::find(const std::string &what, const std::vector<tensor::Tensor> &sources)
{
    std::string key = what;
    for (const tensor::Tensor &source : sources) {
        key += '|' + std::to_string(reinterpret_cast<std::uintptr_t>(source.bytes().data())) + ','
            + std::to_string(static_cast<int>(source.dtype())) + source.shape().toString();
    }
    Entry &entry = m_entries[key];
    if (!entry.value)
        entry.sources = sources;
    entry.lastPlan = m_plan;
    return entry;
}

} // namespace halftone::kernels
