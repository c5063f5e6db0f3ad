#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::kernels {

/// What one plan computed from constants and the next one needs again: folded and packed weights, measured times. A
/// tensor is told by where its bytes lie; an entry keeps the tensors that it came from, so that no other tensor can lie
/// there. Entries that none of the last plans used are dropped, but for what came from no tensor: an answer, measured once. From any thread.
class PlanCache
{
public:
    /// The value under `what` and `sources`, made when it is not there, for which make() may ask for others. T is immutable and shared.
    template <class T, class Make>
    Result<std::shared_ptr<const T>> get(const std::string &what, const std::vector<tensor::Tensor> &sources,
                                         Make &&make)
    {
        const std::shared_ptr<Entry> entry = find(what, sources);
        const std::scoped_lock guard(entry->mutex); // of threads that want the same one makes it
        if (!entry->value) {
            Result<std::shared_ptr<const T>> made = make();
            if (!made.ok())
                return made;
            entry->value = std::move(made).value();
        }
        return std::static_pointer_cast<const T>(entry->value);
    }

    /// Begins a plan: entries with sources that the last kPlansKept plans did not ask for are dropped.
    void beginPlan();
    std::size_t size() const;

private:
    static constexpr std::uint64_t kPlansKept = 4;

    struct Entry
    {
        explicit Entry(std::vector<tensor::Tensor> itsSources)
            : sources(std::move(itsSources))
        {
        }

        const std::vector<tensor::Tensor> sources;
        std::uint64_t lastPlan = 0; ///< the cache's mutex guards it
        std::mutex mutex;
        std::shared_ptr<const void> value; ///< `mutex` guards it
    };

    std::shared_ptr<Entry> find(const std::string &what, const std::vector<tensor::Tensor> &sources);

    mutable std::mutex m_mutex;
    std::unordered_map<std::string, std::shared_ptr<Entry>> m_entries;
    std::uint64_t m_plan = 0;
};

} // namespace halftone::kernels
