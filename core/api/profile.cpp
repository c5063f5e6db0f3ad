#include "halftone/profile.h"

#include "core/api/inside.h"
#include "core/base/share_work.h"
#include "core/dialect/dialect.h"
#include "core/infer/known_shapes.h"
#include "core/infer/variables.h"
#include "core/interpret/random_params.h"
#include "core/latency/plan_maker.h"
#include "core/latency/typed_model.h"
#include "core/machines/local_chips.h"
#include "core/report/roofline.h"
#include "core/results/profile_json.h"
#include "core/walks/int8_ranges.h"

#include <algorithm>

namespace halftone::api {
namespace {

constexpr std::size_t kAttempts = 4; ///< to measure while the machine has other work

Latency latencyOf(const latency::Latency &measured)
{
    Latency latency{measured.medianMs, measured.minMs, measured.p95Ms, measured.peakBytes.value_or(0), {}};
    for (const latency::LayerLatency &layer : measured.layers)
        latency.layers.push_back(
            {layer.step.nodes, layer.step.op, typeOf(layer.step.dtype), layer.step.kernel, layer.medianUs});
    return latency;
}

/// N in place of the first axis of every input whose shape is known.
halftone::Result<void> setBatch(const std::vector<Value> &inputs, std::size_t batch,
                                session::Session &session)
{
    if (batch == 0)
        return {};
    for (const Value &input : inputs) {
        if (!input.shape)
            return badCall("batch", "the shape of \"" + input.name + "\" is unknown",
                           "; open the model with the shapes of its inputs");
        if (input.shape->empty())
            continue;
        std::vector<std::int64_t> lengths = *input.shape;
        lengths[0] = static_cast<std::int64_t>(batch);
        HALFTONE_CHECK(session.setInputShape(input.name, tensor::Shape(std::move(lengths))));
    }
    return {};
}

/// A model, what it is fed and the policy that it was converted by.
struct Measured
{
    graph::Model model;
    infer::KnownShapes shapes; ///< of variables
    policy::Policy policy{};
};

halftone::Result<Measured> measuredOf(const Model &model, const ProfileOptions &options)
{
    session::Session session = Inside::sessionOf(model);
    HALFTONE_CHECK(setBatch(model.inputs(), options.batch, session));
    std::vector<std::string> notes; // the model has told them
    HALFTONE_TRY(const infer::ShapeMap shapes, session.shapes(notes));
    Measured measured{session.source().model, infer::variableShapes(session.source().model.graph, shapes)};
    if (options.randomParameters) {
        HALFTONE_TRY(measured.model,
                     interpret::withRandomParameters(measured.model, session.inputShapes(),
                                                     *options.randomParameters));
    }
    return measured;
}

/// By the names of its inputs, whose shapes are the source's.
halftone::Result<Measured> measuredOf(const Conversion &conversion, const ProfileOptions &options)
{
    HALFTONE_TRY(Measured measured, measuredOf(conversion.source(), options));
    const mixed::ConvertedModel &converted = *Inside::of(conversion).derived.converted;
    measured.model = converted.model;
    measured.policy = converted.policy;
    if (walks::asksForInt8(converted.policy)) { // parameters have other shapes and names in int8
        std::erase_if(measured.shapes, [&conversion](const auto &shape) {
            return std::ranges::find(conversion.source().inputs(), shape.first, &Value::name)
                == conversion.source().inputs().end();
        });
    }
    return measured;
}

std::vector<std::pair<std::string, tensor::Shape>> inputShapes(const Model &model, const Measured &measured)
{
    std::vector<std::pair<std::string, tensor::Shape>> inputs;
    for (const Value &input : model.inputs()) {
        const auto shape = measured.shapes.find(input.name);
        inputs.emplace_back(input.name, shape == measured.shapes.end() ? tensor::Shape() : shape->second);
    }
    return inputs;
}

halftone::Result<Profile> measure(const Model &source, const Measured &measured, const Measured *other,
                                  const ProfileOptions &options, const halftone::Progress &progress)
{
    if (options.repeats == 0)
        return badCall("repeats", "0", "at least 1");
    HALFTONE_TRY(const tensor::DType precision, precisionOf(options.precision));
    HALFTONE_TRY(const latency::PlanMaker maker,
                 latency::PlanMaker::create(options.backend, threadsFor(options.threads), precision));
    results::ProfileFacts facts{options.backend, maker.backend(), {}, {}, inputShapes(source, measured)};
    const rewrite::InlinedCalls calls = latency::callsInlinedFor(maker.backend());
    HALFTONE_TRY(
        const infer::TypedModel typed,
        latency::typedModel(measured.model, measured.shapes, measured.policy, progress, {}, {}, calls));
    HALFTONE_TRY(const auto plan, maker.plan(typed));
    const latency::LatencySettings settings{options.warmup, options.repeats, false, false, kAttempts};
    HALFTONE_TRY(facts.latency, latency::measureLatency(*plan, settings, progress));
    if (const auto chip = machines::chipOf(facts.backend))
        report::addLimits(facts.latency, *chip);
    Profile profile;
    if (other != nullptr) {
        HALFTONE_TRY(
            const infer::TypedModel plain,
            latency::typedModel(other->model, other->shapes, other->policy, progress, {}, {}, calls));
        HALFTONE_TRY(const auto wide, maker.plan(plain));
        HALFTONE_TRY(facts.versus, latency::measureVersus(*plan, *wide, settings, 1, progress));
        profile.versus = Versus{facts.versus->medianMs, facts.versus->ratio, facts.versus->ci95};
    }
    profile.latency = latencyOf(facts.latency);
    profile.device = facts.backend.device;
    for (const latency::EmulatedLayers &layers : latency::emulatedLayers(typed, facts.backend))
        profile.emulated.emplace_back(typeOf(layers.type), layers.count);
    profile.isDisturbed = latency::isDisturbed(facts.latency) || (facts.versus && facts.versus->isDisturbed);
    profile.report = textOf(results::profileJson(facts));
    return profile;
}

} // namespace

Result<Profile> profile(const Model &model, const ProfileOptions &options, const std::optional<Model> &other,
                        const Progress &progress)
{
    return answer([&]() -> halftone::Result<Profile> {
        HALFTONE_TRY(const Measured measured, measuredOf(model, options));
        std::optional<Measured> second;
        if (other) {
            HALFTONE_TRY(second, measuredOf(*other, options));
        }
        return measure(model, measured, second ? &*second : nullptr, options, progressOf(progress));
    });
}

Result<Profile> profile(const Conversion &conversion, const ProfileOptions &options, bool versusSource,
                        const Progress &progress)
{
    return answer([&]() -> halftone::Result<Profile> {
        HALFTONE_TRY(const Measured measured, measuredOf(conversion, options));
        HALFTONE_TRY(const Measured source, measuredOf(conversion.source(), options));
        return measure(conversion.source(), measured, versusSource ? &source : nullptr, options,
                       progressOf(progress));
    });
}

} // namespace halftone::api
