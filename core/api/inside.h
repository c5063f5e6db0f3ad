#pragma once

#include "core/base/guarded.h"
#include "core/base/json.h"
#include "core/base/progress.h"
#include "core/interpret/interpreter.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"
#include "core/session/session.h"
#include "core/tune/model_oracle.h"
#include "core/tune/search.h"
#include "core/weights/lower_weights.h"

#include "halftone/calibrate.h"
#include "halftone/convert.h"
#include "halftone/data.h"
#include "halftone/run.h"
#include "halftone/tune.h"

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

struct Examples::Content
{
    std::shared_ptr<const std::vector<io::NamedTensor>> arrays;
};

struct Conversion::Content
{
    Model source;
    Model model;
    infer::ShapeMap shapes; ///< of the source
    session::Derived derived;
    std::optional<weights::LoweredModel> weights; ///< absent: the policy says nothing of them
    std::vector<Warning> warnings;
};

struct Calibration::Content
{
    std::shared_ptr<const walks::CalibrateOutcome> outcome;
    calibration::ThresholdMethod method;
    std::vector<TensorRange> tensors;
};

/// Makes the public values and looks into them.
struct Inside
{
    static halftone::Result<Model> model(session::Session session);
    /// Another model with the same inputs, made of `source`.
    static halftone::Result<Model> modelFrom(const Model &source, graph::Model made);
    static Examples examples(std::vector<io::NamedTensor> arrays);
    static halftone::Result<Prepared> prepared(const Model &model, const PrepareOptions &options);
    static halftone::Result<Conversion> convert(const Model &model, const policy::Policy &wanted,
                                                const ConvertOptions &options,
                                                const halftone::Progress &progress);
    static Calibration calibration(Calibration::Content content);
    static Front front(const Model &model, const Data &data, const Compute &compute,
                       const tune::TuneTask &task, const std::optional<tune::Limit> &limit,
                       tune::Front found);

    static const session::Session &sessionOf(const Model &model) { return model.m_content->session; }
    static const graph::Model &graphModelOf(const Model &model) { return sessionOf(model).source().model; }
    static const Examples::Content &of(const Examples &examples) { return *examples.m_content; }
    static const Conversion::Content &of(const Conversion &conversion) { return *conversion.m_content; }
    static const Calibration::Content &of(const Calibration &calibration) { return *calibration.m_content; }
};

Error errorOf(const halftone::Error &error);
std::string textOf(const OrderedJson &json); ///< as the command line prints it, without the last line end
Type typeOf(tensor::DType type);
tensor::DType dtypeOf(Type type);
std::optional<Shape> shapeOf(const tensor::Shape &shape);
halftone::Progress progressOf(const Progress &progress);

/// Shares the elements, in both directions. fails: BadInput, naming the array, for bytes that do not match the shape
halftone::Result<tensor::Tensor> tensorOf(const Array &array);
Array arrayOf(const std::string &name, const tensor::Tensor &tensor);

/// fails: BadCall for an unknown metric
halftone::Result<walks::ExampleOptions> examplesOf(const Data &data);
std::optional<Accuracy> accuracyOf(const std::optional<tasks::Accuracy> &accuracy);
std::optional<TaskScore> scoreOf(const std::optional<tasks::TaskScore> &score);
calibration::ThresholdMethod methodOf(ThresholdMethod method);
calibration::CodeType codesOf(Codes codes);
/// fails: BadCall for another type than float32, float16 and bfloat16
halftone::Result<tensor::DType> accumulatorOf(const std::optional<Type> &type);
/// fails: BadCall for another type than float32, float16 and bfloat16
halftone::Result<tensor::DType> precisionOf(const std::optional<Type> &type);
std::vector<Warning> warningsOf(const std::vector<policy::Warning> &warnings);
/// fails: what reading a policy file refuses; BadCall for what no policy may hold
halftone::Result<policy::Policy> policyOf(const Policy &policy);

/// What every job is told alike: its data and how it computes. fails: as examplesOf()
template <class Settings>
halftone::Result<void> setWork(Settings &settings, const Data &data, const Compute &compute)
{
    HALFTONE_TRY(settings.examples, examplesOf(data));
    settings.backend = compute.backend;
    settings.threads = compute.threads;
    settings.batch = compute.batch;
    if constexpr (requires { settings.precision; }) {
        HALFTONE_TRY(settings.precision, precisionOf(compute.precision));
    }
    return {};
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
