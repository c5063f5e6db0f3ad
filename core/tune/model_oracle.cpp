#include "core/tune/model_oracle.h"

#include "core/base/guarded.h"
#include "core/base/progress_part.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/policy/int8_forms.h"
#include "core/policy/policy_json.h"
#include "core/session/derive.h"
#include "core/session/for_runtime.h"
#include "core/session/result_basis.h"
#include "core/tune/cast_costs.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

namespace halftone::tune {
namespace {

constexpr double kTimedSeconds = 0.05; // of each network's steps
constexpr double kFirstSeconds = 0.03; // of each network in turns with float32, to see where it lies
constexpr double kVersusSeconds = 0.06; // the same, where it is offered, each time that it is planned
constexpr std::size_t kPlanned = 3; // times, where it is offered
constexpr std::size_t kFewestRuns = 5; // of layers
constexpr std::size_t kFewestPairs = 9; // of runs, for an interval
constexpr std::size_t kAttempts = 3; // to time something while the machine has other work
constexpr compare::Sample kGlance{1, std::numeric_limits<double>::infinity()};
constexpr compare::Sample kSample{8, 0.15}; // 0.6 dB
constexpr compare::Sample kEvery{std::numeric_limits<std::size_t>::max(), 0};
constexpr double kUnfittedNanoseconds = 0.15; // an element, where nothing was converted: 6 bytes at 40 GB/s

/// The worst output decides.
double sqnrOf(const compare::Comparison &comparison)
{
    double least = std::numeric_limits<double>::infinity();
    for (const compare::OutputErrors &output : comparison.outputs)
        least = std::min(least, output.figures.sqnrDb);
    return least;
}

bool isClean(const compare::Comparison &comparison)
{
    return std::ranges::all_of(comparison.outputs, [](const compare::OutputErrors &output) {
        return output.figures.nan == 0 && output.figures.overflow == 0 && !std::isnan(output.figures.sqnrDb);
    });
}

/// It is no part of the front.
void refuse(const Error &error, Measurement &measured)
{
    measured.isClean = false;
    measured.refusal = error.message();
}

} // namespace

struct ModelOracle::State
{
    TuneTask task;
    session::LiveComparison comparison;
    session::LatencyMeter meter;
    std::shared_ptr<walks::RangeCache> ranges; ///< of int8; null before they are needed
    std::vector<Group> groups; ///< once profiled
    std::vector<Link> links; ///< the same
    double wideMs = 0; ///< float32's median: the measure of all times
    bool byDevice = false; ///< whose clock that is, as far as it is known: Measurement::byDevice
    bool areLayersDisturbed = false; ///< of any network whose layers were timed
    std::map<std::string, std::string>
        refused; ///< by node that a list lowers: why the runtime does not run it so
    std::uint64_t revision = 0;
    session::Snapshot narrow; ///< everything lowered, once it is: what parameters become is taken from there
    std::shared_ptr<const mixed::ConvertedModel> lowestInt8; ///< the same with int8; null without
    std::optional<session::LatencyFigures>
        narrowTimes; ///< of `narrow`, beside float32; as a whole in `versus`
    bool isClean = true; ///< so far: else every example is looked at for what overflows

    const graph::Graph &graph() const { return task.source->model.graph; }

    /// Parameters are cast once, not with every example. They become what a cast makes of them.
    void letParametersBeCast(policy::Policy &policy) const
    {
        const bool isTyped = policy.mode.value_or(policy::Mode::Typed) == policy::Mode::Typed;
        if (!isTyped || policy.castParams || dialect::of(graph()).storesCastParameters())
            return;
        policy.castParams = true;
        policy.clamp = policy.clamp.value_or(false);
    }

    Result<session::Snapshot> snapshotOf(policy::Policy policy, const Progress &progress)
    {
        letParametersBeCast(policy);
        session::Snapshot snapshot;
        snapshot.revision = ++revision;
        snapshot.source = task.source;
        snapshot.shapes = task.shapes;
        session::DeriveRequest request{task.source->model, task.source->modelPath, policy, task.shapes.get()};
        request.before = narrow.converted.get();
        if (walks::asksForInt8(policy)) {
            HALFTONE_CHECK(calibrate(progress));
            request.ranges.calibrated = ranges;
            if (lowestInt8)
                request.before = lowestInt8.get();
        }
        HALFTONE_TRY(session::Derived derived, session::derive(request, progress));
        snapshot.policy = std::make_shared<const policy::Policy>(std::move(policy));
        snapshot.rules = derived.rules;
        snapshot.converted = derived.converted;
        snapshot.ranges = ranges;
        return snapshot;
    }

    Result<void> calibrate(const Progress &progress)
    {
        if (ranges)
            return {};
        walks::CalibrateOptions options;
        options.examples = task.compare.examples;
        options.backend = task.compare.backend;
        options.threads = task.compare.threads;
        options.rangesOnly = true;
        options.weighsOutputs = true;
        options.threshold.codes = calibration::CodeType::Auto;
        HALFTONE_TRY(walks::CalibrateOutcome outcome,
                     walks::calibrateModel(task.source->model, task.source->modelPath, options, progress));
        ranges = std::make_shared<walks::RangeCache>(
            std::make_shared<const walks::CalibrateOutcome>(std::move(outcome)));
        return {};
    }

    /// The task's, without what is refused.
    policy::Policy runnablePolicy() const
    {
        policy::Policy policy = *task.policy;
        for (const auto &[name, why] : refused)
            policy.nodeOverrides.emplace(name, tensor::DType::F32);
        return policy;
    }

    bool isLowered(graph::NodeId id) const
    {
        return narrow.converted->conversion.precisionOf(id) == task.policy->target;
    }

    /// All as the policy lowers it, but for what a table says that the runtime refuses (T-refused).
    Result<void> lower(const Progress &progress)
    {
        HALFTONE_TRY(narrow, snapshotOf(*task.policy, progress));
        HALFTONE_TRY(const std::vector<session::LeftNode> known,
                     session::refusedNodes(task.latency.backend, task.source->model, *task.policy));
        const graph::NodesByName ids = graph::operatorsByName(graph());
        for (const session::LeftNode &left : known)
            if (isLowered(ids.at(left.name)))
                refused.emplace(left.name, left.why);
        if (refused.empty())
            return {};
        HALFTONE_TRY(narrow, snapshotOf(runnablePolicy(), progress));
        return {};
    }

    /// Adds the lowered nodes of the operator that an error is about. false: there is nothing to add.
    bool takeRefusal(const Error &error)
    {
        const graph::NodesByName ids = graph::operatorsByName(graph());
        const auto named = ids.find(error.where);
        if (error.code != Errc::Unsupported || named == ids.end() || !isLowered(named->second))
            return false;
        const std::string &op = graph().node(named->second).op;
        const std::size_t before = refused.size();
        for (const auto &[name, id] : ids)
            if (graph().node(id).op == op && isLowered(id))
                refused.emplace(name, op + " is refused: " + error.found);
        return refused.size() > before;
    }

    /// Makes plans while the examples are read: only what is timed needs the machine for itself.
    Result<void> prepare(const Progress &progress)
    {
        const Progress quiet{progress.stop, {}};
        std::future<Result<void>> reading = std::async(
            [&] { return guarded([&] { return comparison.prepare(narrow, task.compare, quiet); }); });
        Result<bool> isNative = meter.prepare(
            narrow, optionsFor(0, 1, 1), [&reading] { reading.wait(); }, quiet);
        Result<void> areRead = reading.get();
        HALFTONE_TRY(const bool canBeTimed, std::move(isNative));
        if (!canBeTimed)
            return unsupported(Field::Target,
                               std::string(tensor::nameOf(task.policy->target))
                                   + " is only emulated on this machine, so its times would be meaningless",
                               "a type that this machine supports natively");
        return areRead;
    }

    /// All as the policy lowers it, and float32 beside it: once. How long layers take is known roughly.
    Result<void> timeEnds(const Progress &progress)
    {
        if (narrowTimes)
            return {};
        progress.tell(0, "preparing float32 and " + std::string(tensor::nameOf(task.policy->target)));
        HALFTONE_CHECK(lower(progress));
        Result<void> prepared = prepare(progress);
        while (!prepared.ok()) {
            if (!takeRefusal(prepared.error()))
                return prepared;
            HALFTONE_TRY(narrow, snapshotOf(runnablePolicy(), progress));
            prepared = prepare(progress);
        }
        const bool isResumed = wideMs > 0; // what was measured before is in that measure
        HALFTONE_TRY(session::LatencyFigures rough, meter.layers(narrow, optionsFor(0, 1, 1), progress));
        if (!isResumed)
            wideMs = rough.fp32.medianMs;
        HALFTONE_TRY(rough.versus,
                     meter.versus(narrow, optionsFor(kFirstSeconds, kFewestPairs, 30), progress));
        if (!isResumed)
            wideMs = rough.versus.medianMs;
        byDevice = rough.versus.byDevice;
        narrowTimes = std::move(rough);
        return {};
    }

    /// Layer by layer. Needs: timeEnds()
    Result<void> timeLayers(const Progress &progress)
    {
        progress.tell(0, "timing each layer in each type");
        HALFTONE_TRY(narrowTimes->mixed, stepsOf(narrow, partOf(progress, 0, 0.5)));
        // What stays float32 in a mixed network takes that one's layout, which another may be the best for float32 alone.
        HALFTONE_TRY(narrowTimes->fp32,
                     meter.wideInLayoutOf(narrow, stepOptions(), partOf(progress, 0.5, 0.5)));
        areLayersDisturbed = areLayersDisturbed || latency::isDisturbed(narrowTimes->fp32);
        return {};
    }

    /// int8  null: without it
    Network network(const LabelledRun *int8)
    {
        const LabelledRun lowered{narrow.converted.get(), &narrowTimes->mixed};
        Network made = networkOf(task.source->model, *task.shapes, narrowTimes->fp32, lowered, int8);
        for (Link &link : made.links)
            link.prices.castMicroseconds = link.prices.widenMicroseconds
                = kUnfittedNanoseconds / 1e3 * link.elements;
        takeRefused(made.groups);
        made.wideMs = wideMs;
        made.isDisturbed = areLayersDisturbed;
        groups = made.groups;
        links = made.links;
        return made;
    }

    void takeRefused(std::vector<Group> &made) const
    {
        for (Group &group : made) {
            for (const graph::NodeId id : group.nodes)
                if (const auto found = refused.find(graph().node(id).name); found != refused.end())
                    group.refused.push_back({found->first, found->second});
            if (!group.isTunable && !group.refused.empty())
                group.whyFixed = group.refused[0].why;
        }
    }

    /// fails: Unsupported where the runtime refuses all that the policy lowers
    Result<void> checkLeft() const
    {
        if (refused.empty()
            || std::ranges::any_of(groups, [](const Group &group) { return group.isTunable; }))
            return {};
        std::vector<std::string> reasons;
        for (const auto &[name, why] : refused)
            if (std::ranges::find(reasons, why) == reasons.end())
                reasons.push_back(why);
        return unsupported(Field::Target,
                           std::string(tensor::nameOf(task.policy->target))
                               + " leaves nothing to search: " + joined(reasons, 3));
    }

    session::LatencyOptions optionsFor(double seconds, std::size_t least, std::size_t most) const
    {
        session::LatencyOptions options = task.latency;
        options.keepsPlan = true;
        options.examples = task.compare.examples; // integers decide what is computed at all
        options.settings.byDevice
            = true; // layers are timed by it, too, and what a launch costs is no layer's
        const bool isFirst = wideMs <= 0; // only to know how often others are to be timed
        options.settings.attempts = isFirst ? 1 : kAttempts;
        options.settings.repeats
            = isFirst ? least : std::clamp(static_cast<std::size_t>(seconds * 1e3 / wideMs), least, most);
        constexpr double kLongMs = 20; // a run of so long has all in place for the next one
        options.settings.warmup = isFirst || wideMs > kLongMs ? 1 : 2;
        return options;
    }

    session::LatencyOptions stepOptions() const { return optionsFor(kTimedSeconds, kFewestRuns, 40); }

    Result<latency::Latency> stepsOf(const session::Snapshot &snapshot, const Progress &progress)
    {
        HALFTONE_TRY(latency::Latency latency, meter.steps(snapshot, stepOptions(), progress));
        areLayersDisturbed = areLayersDisturbed || latency::isDisturbed(latency);
        return latency;
    }

    /// In turns with float32. What timeEnds() has timed is not timed again.
    Result<latency::Versus> firstVersusOf(const session::Snapshot &snapshot, const Progress &progress)
    {
        if (narrowTimes && *snapshot.policy == *narrow.policy)
            return forAnotherMedian(narrowTimes->versus);
        HALFTONE_TRY(const latency::Versus versus,
                     meter.versus(snapshot, optionsFor(kFirstSeconds, kFewestPairs, 30), progress));
        return forAnotherMedian(versus);
    }

    /// Likewise, of plans made anew, as whoever measures it later makes them: where buffers lie differs from plan to plan, and with it the
    /// times. As for the interval: that is for PlanScatter to say.
    Result<void> confirm(const session::Snapshot &snapshot, Measurement &measured, const Progress &progress)
    {
        std::vector<double> ratios;
        latency::Versus all;
        for (std::size_t k = 0; k < kPlanned; ++k) {
            meter.forgetPlans();
            HALFTONE_TRY(const latency::Versus versus,
                         meter.versus(snapshot, optionsFor(kVersusSeconds, kFewestPairs, 60), progress));
            ratios.push_back(versus.ratio);
            all.byDevice = versus.byDevice;
            all.isDisturbed = all.isDisturbed || versus.isDisturbed;
        }
        all.ratio = std::reduce(ratios.begin(), ratios.end()) / static_cast<double>(ratios.size());
        const auto [least, most] = std::ranges::minmax(ratios);
        all.ci95 = {least, most};
        take(all, measured);
        measured.planRatios = std::move(ratios);
        return {};
    }

    /// The interval of a median says where the true one lies. Another measurement's median, which is what a person holds against it, is as
    /// far off again by itself: the half widths are √2 times as large.
    static latency::Versus forAnotherMedian(latency::Versus versus)
    {
        for (double &end : versus.ci95)
            end = versus.ratio + std::numbers::sqrt2 * (end - versus.ratio);
        return versus;
    }

    Result<Measurement> errorsOf(const session::Snapshot &snapshot, const Progress &progress)
    {
        HALFTONE_TRY(const walks::CompareOutcome outcome,
                     comparison.compare(snapshot, task.compare, progress));
        Measurement measured;
        measured.sqnrDb = sqnrOf(outcome.comparison);
        measured.isClean = tune::isClean(outcome.comparison);
        isClean = isClean && measured.isClean;
        if (outcome.reference && outcome.other) {
            measured.top1 = outcome.other->top1;
            measured.top1Reference = outcome.reference->top1;
        }
        if (const auto &outputs = outcome.comparison.outputs; !outputs.empty() && outputs[0].agreement)
            measured.top1Agreement = outputs[0].agreement->top1;
        measured.milliseconds = wideMs;
        measured.ci95 = {wideMs, wideMs};
        return measured;
    }

    /// Infinite where it overflows.
    Result<double> errorBy(const compare::Sample &sample, const policy::Policy &policy,
                           const Progress &progress)
    {
        HALFTONE_TRY(const session::Snapshot snapshot, snapshotOf(policy, progress));
        HALFTONE_TRY(const walks::CompareOutcome outcome,
                     comparison.sample(snapshot, task.compare, sample, progress));
        return tune::isClean(outcome.comparison) ? errorOf(sqnrOf(outcome.comparison))
                                                 : std::numeric_limits<double>::infinity();
    }

    void take(const latency::Versus &versus, Measurement &measured)
    {
        measured.ratio = versus.ratio;
        measured.byDevice = byDevice = versus.byDevice;
        measured.isDisturbed = versus.isDisturbed;
        measured.milliseconds = measured.ratio * wideMs;
        measured.ci95 = {versus.ci95[0] * wideMs, versus.ci95[1] * wideMs};
    }

    /// Every node that a list lowers in int8, where it has a form.
    policy::Policy inInt8(const mixed::ConvertedModel &lowered) const
    {
        policy::Policy policy = runnablePolicy();
        for (graph::NodeId id = 0; id < graph().nodeCount(); ++id) {
            if (graph().isVariable(id) || lowered.assignment.requested(id) != policy::Request::Target)
                continue;
            if (policy::hasInt8Form(*graph().dialect(), graph().node(id).op))
                policy.nodeOverrides.emplace(graph().node(id).name, tensor::DType::I8);
        }
        return policy;
    }

    /// The casts that a network runs as steps of their own, each of a value of the source graph.
    std::vector<CastTime> castsIn(const session::Snapshot &snapshot, const latency::Latency &latency) const
    {
        const graph::Graph &converted = snapshot.converted->model.graph;
        const graph::NodesByName casts = graph::operatorsByName(converted);
        const graph::NodesByName operators = graph::operatorsByName(graph());
        const graph::NodesByName variables = graph::variablesByName(graph());
        std::vector<CastTime> times;
        for (const latency::LayerLatency &layer : latency.layers) {
            if (layer.step.kind != kernels::StepKind::Cast || layer.step.nodes.size() != 1)
                continue;
            const auto cast = casts.find(layer.step.nodes[0]);
            if (cast == casts.end() || converted.inputs(cast->second).size() != 1)
                continue;
            const graph::Entry read = converted.inputs(cast->second)[0];
            const graph::NodesByName &sources = converted.isVariable(read.node) ? variables : operators;
            const auto source = sources.find(converted.node(read.node).name);
            if (source == sources.end())
                continue;
            const auto elements = task.shapes->of({source->second, read.output}).elementCount();
            if (elements.value_or(0) > 0)
                times.push_back({static_cast<double>(*elements), layer.medianUs});
        }
        return times;
    }

    /// From networks whose labels change at every second group.
    Result<void> fitConversions(ModelOracle &oracle, const Progress &progress)
    {
        const Labels labels = alternating(Label::Target);
        HALFTONE_TRY(const session::Snapshot snapshot, snapshotOf(oracle.policyFor(labels), progress));
        const Result<latency::Latency> timed = stepsOf(snapshot, progress);
        if (!timed.ok() && timed.error().code == Errc::Unsupported)
            return {}; // a runtime refuses this mixture: prices stay the guess that they are
        if (!timed.ok())
            return timed.error();
        const latency::Latency &latency = timed.value();
        const CastCosts costs = fittedCosts(castsIn(snapshot, latency), {0, kUnfittedNanoseconds / 1e3});
        for (Link &link : links)
            link.prices.castMicroseconds = link.prices.widenMicroseconds = costs.of(link.elements);
        fitWidened(labels, beyondGroups(latency, labels));
        return task.hasInt8 ? fitCodes(oracle, progress) : Result<void>();
    }

    /// A layer that writes float32 instead of 16 bit may take as long as ever, or longer: what is told by all of a network's steps.
    void fitWidened(const Labels &labels, double beyond)
    {
        double narrowing = 0;
        double widening = 0;
        for (const Link &link : links)
            (labels[link.producer] == Label::Float32 ? narrowing : widening) += link.microseconds(labels);
        constexpr double kMostShare = 2; // of a cast that is a step of its own: times are noisy
        const double share = widening > 0 ? std::clamp((beyond - narrowing) / widening, 0.0, kMostShare) : 1;
        for (Link &link : links)
            link.prices.widenMicroseconds *= share;
    }

    /// What a network takes whose groups change to codes and back, by the element. Part of that are layers that write floats where among others
    /// of int8 they would write codes.
    Result<void> fitCodes(ModelOracle &oracle, const Progress &progress)
    {
        const Labels labels = alternating(Label::Int8);
        HALFTONE_TRY(const session::Snapshot snapshot, snapshotOf(oracle.policyFor(labels), progress));
        HALFTONE_TRY(const latency::Latency latency, stepsOf(snapshot, progress));
        double beyond = beyondGroups(latency, labels);
        double elements = 0; // that become codes or are no longer
        for (Link &link : links) {
            link.prices.codesMicroseconds = 0;
            const double casts = link.microseconds(labels);
            link.prices.codesMicroseconds = link.elements;
            elements += link.microseconds(labels) - casts;
            beyond -= casts;
        }
        const double perElement = elements > 0 ? std::max(beyond, 0.0) / elements : 0;
        for (Link &link : links)
            link.prices.codesMicroseconds *= perElement;
        return {};
    }

    /// What the steps of a network of these labels take beyond its groups, microseconds.
    double beyondGroups(const latency::Latency &latency, const Labels &labels) const
    {
        double beyond = 0;
        for (const latency::LayerLatency &layer : latency.layers)
            beyond += layer.step.kind == kernels::StepKind::Reorder ? 0 : layer.medianUs;
        for (std::size_t k = 0; k < groups.size(); ++k)
            beyond -= groups[k].costs.microseconds[static_cast<std::size_t>(labels[k])];
        return beyond;
    }

    /// Every second group that may have the label has it.
    Labels alternating(Label label) const
    {
        Labels labels;
        bool changes = false;
        for (const Group &group : groups) {
            const bool mayChange = group.isTunable && group.costs.allows(label);
            changes = mayChange ? !changes : changes;
            labels.push_back(mayChange && changes ? label : group.costs.widest());
        }
        return labels;
    }
};

ModelOracle::ModelOracle(TuneTask task)
    : m_state(std::make_unique<State>())
{
    m_state->task = std::move(task);
    m_state->task.compare.eachAlone = true;
    m_state->task.compare.batch
        = 1; // sums of products, and so errors, depend on how many are taken at a time
    m_state->task.compare.settings.outputsOnly = true;
}

ModelOracle::~ModelOracle() = default;

Result<std::optional<Network>> ModelOracle::sketch(const Progress &progress)
{
    HALFTONE_CHECK(m_state->timeEnds(progress));
    Network sketched = m_state->network(nullptr);
    HALFTONE_CHECK(m_state->checkLeft());
    return std::optional(std::move(sketched));
}

Result<Network> ModelOracle::profile(const Progress &progress)
{
    State &state = *m_state;
    HALFTONE_CHECK(state.timeEnds(progress));
    HALFTONE_CHECK(state.timeLayers(progress));
    if (!state.task.hasInt8) {
        Network timed = state.network(nullptr);
        HALFTONE_CHECK(state.checkLeft());
        return timed;
    }
    progress.tell(0.5, "timing each layer in int8");
    HALFTONE_TRY(const session::Snapshot int8,
                 state.snapshotOf(state.inInt8(*state.narrow.converted), progress));
    state.lowestInt8 = int8.converted;
    HALFTONE_TRY(const latency::Latency int8Times, state.stepsOf(int8, progress));
    const LabelledRun int8Run{int8.converted.get(), &int8Times};
    return state.network(&int8Run);
}

Result<std::optional<std::vector<Link>>> ModelOracle::timeConversions(const Progress &progress)
{
    HALFTONE_CHECK(m_state->fitConversions(*this, progress));
    return std::optional(m_state->links);
}

void ModelOracle::resume(const Network &network)
{
    m_state->groups = network.groups;
    m_state->links = network.links;
    m_state->wideMs = network.wideMs;
}

std::string basisOf(const TuneTask &task)
{
    return task.source->modelPath + "; " + session::comparisonBasis(task.compare, task.source->modelPath)
        + "; " + session::latencyBasis(task.latency) + "; " + policy::writePolicy(*task.policy)
        + (task.hasInt8 ? "; int8" : "");
}

policy::Policy ModelOracle::policyFor(const Labels &labels) const
{
    return tune::policyFor(*m_state->task.policy, m_state->graph(), m_state->groups, labels);
}

Result<double> ModelOracle::estimate(const Labels &labels, const Progress &progress)
{
    return m_state->errorBy(kGlance, policyFor(labels), progress);
}

Result<double> ModelOracle::errorAlone(std::size_t group, Label label, const Progress &progress)
{
    Labels labels;
    for (const Group &one : m_state->groups)
        labels.push_back(one.costs.widest());
    labels[group] = label;
    return m_state->errorBy(m_state->isClean ? kSample : kEvery, policyFor(labels), progress);
}

Result<Measurement> ModelOracle::measure(const Labels &labels, const Progress &progress)
{
    HALFTONE_TRY(const session::Snapshot snapshot, m_state->snapshotOf(policyFor(labels), progress));
    HALFTONE_TRY(Measurement measured, m_state->errorsOf(snapshot, progress));
    measured.byDevice = m_state->byDevice;
    // Float32 is the measure of all times: against itself there is only noise to be found.
    if (std::ranges::any_of(labels, [](Label label) { return label != Label::Float32; })) {
        const Result<latency::Versus> versus = m_state->firstVersusOf(snapshot, progress);
        if (versus.ok())
            m_state->take(versus.value(), measured);
        else if (versus.error().code == Errc::Unsupported)
            refuse(versus.error(), measured);
        else
            return versus.error();
    }
    return measured;
}

Result<Measurement> ModelOracle::confirm(const Labels &labels, const Measurement &measured,
                                         const Progress &progress)
{
    HALFTONE_TRY(const session::Snapshot snapshot, m_state->snapshotOf(policyFor(labels), progress));
    Measurement confirmed = measured;
    HALFTONE_CHECK(m_state->confirm(snapshot, confirmed, progress));
    return confirmed;
}

} // namespace halftone::tune
