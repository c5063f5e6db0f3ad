#pragma once

#include "core/compare/whole_model.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"
#include "core/runtimes/runtimes.h"

#include <memory>
#include <optional>
#include <string>

namespace halftone::walks {

/// A model that a backend without kernels of its own runs whole (backends::BackendInfo::wholeModels).
class RuntimeModel : public compare::WholeModel
{
public:
    /// `model` must outlive this.
    RuntimeModel(const graph::Model &model, runtimes::RuntimeUse use);
    ~RuntimeModel() override;

    /// fails: BadInput for inputs that are missing or do not fit, where = the input; as kernels::Backend::plan() and LatencyPlan::run()
    Result<std::vector<tensor::Tensor>> heads(const interpret::Feed &feed, const Progress &progress) override;
    /// As runtimes::layerValues().
    Result<void> values(const interpret::Feed &feed, std::span<const graph::Entry> wanted, const Take &take,
                        const Progress &progress) override;

    /// Of the last run.
    double seconds() const { return m_seconds; }
    std::optional<kernels::RuntimeFacts> runtime() const;

private:
    Result<void> prepare(const interpret::Feed &feed, const Progress &progress);

    const graph::Model &m_model;
    runtimes::RuntimeUse m_use;
    infer::KnownShapes m_shapes; ///< that the rest was made for
    std::optional<infer::TypedModel> m_typed;
    std::unique_ptr<kernels::LatencyPlan> m_plan; ///< null until heads() needs it
    double m_seconds = 0;
};

/// Does the backend of that name run whole models only?
bool runsWholeModels(const std::string &backend);
/// The given name, or that of the default if the backend has no kernels for single operators.
std::string kernelBackendFor(const std::string &backend);

} // namespace halftone::walks
