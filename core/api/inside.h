#pragma once

#include "core/base/guarded.h"
#include "core/base/progress.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"
#include "core/session/session.h"

#include "halftone/calibrate.h"
#include "halftone/convert.h"
#include "halftone/run.h"

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Between the public values and those of the core.
namespace halftone::api {

struct Model::Content
{
    session::Session session;
    std::vector<Value> inputs;
    std::vector<Value> outputs;
    std::vector<std::string> notes;
};

struct Conversion::Content
{
    Model source;
    Model model;
    infer::ShapeMap shapes; ///< of the source
    session::Derived derived;
    std::vector<Warning> warnings;
};

struct Calibration::Content
{
    walks::CalibrateOutcome outcome;
    calibration::ThresholdMethod method;
    std::vector<TensorRange> tensors;
};

/// Makes the public values and looks into them.
struct Inside
{
    static halftone::Result<Model> model(session::Session session);
    /// Another model with the same inputs, made of `source`.
    static halftone::Result<Model> modelFrom(const Model &source, graph::Model made);
    static Conversion conversion(Conversion::Content content);
    static Calibration calibration(Calibration::Content content);

    static const session::Session &sessionOf(const Model &model) { return model.m_content->session; }
    static const graph::Model &graphModelOf(const Model &model) { return sessionOf(model).source().model; }
    static const Conversion::Content &of(const Conversion &conversion) { return *conversion.m_content; }
    static const Calibration::Content &of(const Calibration &calibration) { return *calibration.m_content; }
};

Error errorOf(const halftone::Error &error);
Type typeOf(tensor::DType type);
tensor::DType dtypeOf(Type type);
std::optional<Shape> shapeOf(const tensor::Shape &shape);
halftone::Progress progressOf(const Progress &progress);
walks::ExampleOptions examplesOf(const Data &data);
std::optional<Accuracy> accuracyOf(const std::optional<tasks::Accuracy> &accuracy);
calibration::ThresholdMethod methodOf(ThresholdMethod method);
std::vector<Warning> warningsOf(const std::vector<policy::Warning> &warnings);
/// fails: what reading a policy file refuses; BadCall for what no policy may hold
halftone::Result<policy::Policy> policyOf(const Policy &policy);

/// What every job is told alike: its data and how it computes.
template <class Settings>
void setWork(Settings &settings, const Data &data, const Compute &compute)
{
    settings.examples = examplesOf(data);
    settings.backend = compute.backend;
    settings.threads = compute.threads;
    settings.batch = compute.batch;
}

/// What `work` gives, its errors and exceptions told in public.
template <class F>
auto answer(F &&work) -> Result<std::decay_t<decltype(work().value())>>
{
    auto outcome = guarded(std::forward<F>(work));
    if (!outcome.ok())
        return errorOf(outcome.error());
    return std::move(outcome).value();
}

} // namespace halftone::api
