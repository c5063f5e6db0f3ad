#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::kernels {

/// What one plan computed from constants and the next one needs again: folded and packed weights, measured times. A
/// tensor is told by where its bytes lie; an entry keeps the tensors that it came from, so that no other tensor can lie
/// there. Entries that none of the last plans used are dropped. For one thread at a time.
class PlanCache
{
public:
    /// The value under `what` and `sources`, made when it is not there. T is immutable and shared.
    template <class T, class Make>
    Result<std::shared_ptr<const T>> get(const std::string &what, const std::vector<tensor::Tensor> &sources,
                                         Make &&make)
    {
        Entry &entry = find(what, sources);
        if (!entry.value) {
            Result<std::shared_ptr<const T>> made = make();
            if (!made.ok())
                return made;
            entry.value = std::move(made).value();
        }
        return std::static_pointer_cast<const T>(entry.value);
    }

    /// Begins a plan: entries that the last kPlansKept plans did not ask for are dropped.
    void beginPlan();
    std::size_t size() const { return m_entries.size(); }

private:
    static constexpr std::uint64_t kPlansKept = 4;

    struct Entry
    {
        std::vector<tensor::Tensor> sources;
        std::shared_ptr<const void> value;
        std::uint64_t lastPlan = 0;
    };

    Entry &find(const std::string &what, const std::vector<tensor::Tensor> &sources);

    std::unordered_map<std::string, Entry> m_entries;
    std::uint64_t m_plan = 0;
};

} // namespace halftone::kernels
