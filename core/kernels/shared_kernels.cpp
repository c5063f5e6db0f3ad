#include "core/kernels/shared_kernels.h"

#include "core/kernels/latency_plan.h"
#include "core/kernels/same_operation.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

namespace halftone::kernels {
namespace {

using tensor::Tensor;

struct Held
{
    Operation operation;
    std::unique_ptr<Kernel> kernel;
};

/// What tells most operations of a network apart.
std::size_t hashOf(const Operation &operation)
{
    std::size_t hash = std::hash<std::uint64_t>()(operation.seed);
    const auto add = [&hash](std::size_t value) { hash = hash * 31 + value; };
    for (const TensorDesc &desc : operation.inputs) {
        add(static_cast<std::size_t>(desc.dtype));
        for (const std::int64_t extent : desc.shape.dims())
            add(static_cast<std::size_t>(extent));
    }
    for (const Tensor &constant : operation.constants)
        add(std::hash<const void *>()(constant.bytes().data()));
    return hash;
}

class SharedKernel final : public Kernel
{
public:
    explicit SharedKernel(std::shared_ptr<const Held> held)
        : m_held(std::move(held))
    {
    }
    std::string name() const override { return m_held->kernel->name(); }
    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        return m_held->kernel->run(inputs, outputs);
    }
    void setStop(std::stop_token stop) override { m_held->kernel->setStop(std::move(stop)); }

private:
    std::shared_ptr<const Held> m_held;
};

class Sharing final : public Backend
{
public:
    explicit Sharing(std::shared_ptr<const Backend> maker)
        : m_maker(std::move(maker))
    {
    }

    std::string_view name() const override { return m_maker->name(); }
    Support support(tensor::DType type) const override { return m_maker->support(type); }

    Result<std::unique_ptr<Kernel>> prepare(const Operation &operation) const override
    {
        const std::size_t hash = hashOf(operation);
        const auto [first, last] = m_known.equal_range(hash);
        for (auto at = first; at != last; ++at)
            if (auto held = at->second.lock(); held && areSame(held->operation, operation))
                return std::unique_ptr<Kernel>(std::make_unique<SharedKernel>(std::move(held)));
        HALFTONE_TRY(std::unique_ptr<Kernel> made, m_maker->prepare(operation));
        auto held = std::make_shared<const Held>(Held{operation, std::move(made)});
        forgetGone();
        m_known.emplace(hash, held);
        return std::unique_ptr<Kernel>(std::make_unique<SharedKernel>(std::move(held)));
    }

    Result<std::unique_ptr<LatencyPlan>> plan(const infer::TypedModel &model,
                                              const PlanOptions &options) const override
    {
        return m_maker->plan(model, options);
    }

private:
    /// Now and then: as soon as there may be as many as those that are still held.
    void forgetGone() const
    {
        if (m_known.size() < m_mostKnown)
            return;
        std::erase_if(m_known, [](const auto &known) { return known.second.expired(); });
        m_mostKnown = std::max(kFewKnown, 2 * m_known.size());
    }

    static constexpr std::size_t kFewKnown = 256;

    std::shared_ptr<const Backend> m_maker;
    mutable std::unordered_multimap<std::size_t, std::weak_ptr<const Held>> m_known;
    mutable std::size_t m_mostKnown = kFewKnown;
};

} // namespace

BackendChain withSharedKernels(const BackendChain &chain)
{
    BackendChain shared;
    for (const auto &backend : chain)
        shared.push_back(std::make_shared<Sharing>(backend));
    return shared;
}

} // namespace halftone::kernels
