#include "core/kernels/plan_cache.h"

namespace halftone::kernels {

void PlanCache::beginPlan()
{
    const std::scoped_lock guard(m_mutex);
    ++m_plan;
    std::erase_if(m_entries, [this](const auto &item) {
        const Entry &entry = *item.second;
        return !entry.sources.empty() && entry.lastPlan + kPlansKept < m_plan;
    });
}

std::size_t PlanCache::size() const
{
    const std::scoped_lock guard(m_mutex);
    return m_entries.size();
}

std::shared_ptr<PlanCache::Entry> PlanCache::find(const std::string &what,
                                                  const std::vector<tensor::Tensor> &sources)
{
    std::string key = what;
    for (const tensor::Tensor &source : sources) {
        key += '|' + std::to_string(reinterpret_cast<std::uintptr_t>(source.bytes().data())) + ','
            + std::to_string(static_cast<int>(source.dtype())) + source.shape().toString();
    }
    const std::scoped_lock guard(m_mutex);
    std::shared_ptr<Entry> &entry = m_entries[key];
    if (!entry)
        entry = std::make_shared<Entry>(sources);
    entry->lastPlan = m_plan;
    return entry;
}

} // namespace halftone::kernels
