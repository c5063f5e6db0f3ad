#include "core/session/saved_results.h"

#include "core/base/json.h"
#include "core/report/figures_object.h"
#include "core/session/figures.h"

#include <cmath>
#include <limits>

namespace halftone::session {
namespace {

using Json = OrderedJson;
using tensor::ErrorFigures;

Json jsonOf(const std::optional<tasks::Accuracy> &accuracy)
{
    if (!accuracy)
        return {};
    return {{"top1", accuracy->top1}, {"top5", accuracy->top5}, {"examples", accuracy->examples}};
}

Json jsonOf(const std::optional<tasks::TaskScore> &task)
{
    if (!task)
        return {};
    return {{"metric", tasks::nameOf(task->metric)},
            {"guessed", task->isGuessed},
            {"reference", report::numberOrNull(task->reference)},
            {"other", report::numberOrNull(task->other)},
            {"agreement", report::numberOrNull(task->agreement)},
            {"examples", task->examples},
            {"peak", report::numberOrNull(task->peak)}};
}

Json jsonOf(const walks::CompareOutcome &outcome, bool hasIsolated)
{
    Json layers = Json::array();
    for (const compare::LayerErrors &layer : outcome.comparison.layers) {
        Json row{{"node", layer.node},
                 {"output", layer.output},
                 {"dtype", tensor::nameOf(layer.dtype)},
                 {"cumulative", report::figuresObject(layer.cumulative)},
                 {"not_finite", layer.notFinite},
                 {"shapes_differ", layer.shapesDiffer}};
        if (hasIsolated) {
            row["isolated"] = report::figuresObject(layer.isolated);
            row["isolated_at_outputs"] = report::figuresObject(layer.isolatedAtOutputs);
        }
        layers.push_back(std::move(row));
    }
    Json outputs = Json::array();
    for (std::size_t k = 0; k < outcome.comparison.outputs.size(); ++k) {
        const compare::OutputErrors &output = outcome.comparison.outputs[k];
        Json row{{"name", k < outcome.outputs.size() ? outcome.outputs[k] : std::string()},
                 {"figures", report::figuresObject(output.figures)},
                 {"shapes_differ", output.shapesDiffer}};
        if (const auto &agreement = output.agreement)
            row["agreement"] = {{"examples", agreement->examples},
                                {"top1", agreement->top1},
                                {"top5", agreement->top5},
                                {"top1_in_top5", agreement->top1InTop5},
                                {"kl", report::jsonNumber(agreement->divergence)}};
        outputs.push_back(std::move(row));
    }
    const auto index = [](const std::optional<std::size_t> &at) { return at ? Json(*at) : Json(); };
    return {{"examples", outcome.examples},
            {"batch", outcome.batch},
            {"seconds", outcome.seconds},
            {"isolated", hasIsolated},
            {"threshold", report::jsonNumber(outcome.comparison.threshold)},
            {"first_divergence", index(outcome.comparison.firstDivergence)},
            {"first_unclean", index(outcome.comparison.firstUnclean)},
            {"accuracy", {{"reference", jsonOf(outcome.reference)}, {"other", jsonOf(outcome.other)}}},
            {"task", jsonOf(outcome.task)},
            {"outputs", std::move(outputs)},
            {"layers", std::move(layers)}};
}

/// Takes figures out of the parsed text; nlohmann's own errors, which name no path, become ours in readResults().
class ResultsReader
{
public:
    explicit ResultsReader(const Snapshot &snapshot)
        : m_snapshot(snapshot)
    {
    }

    std::shared_ptr<const walks::CompareOutcome> comparison(const Json &json)
    {
        auto outcome = std::make_shared<walks::CompareOutcome>();
        const mixed::ConvertedModel &converted = *m_snapshot.converted;
        outcome->models
            = compare::convertedPair(m_snapshot.source->model, converted.model, converted.conversion);
        outcome->unmatched = compare::unmatchedNodes(outcome->models);
        outcome->examples = outcome->expected = whole<std::size_t>(json.at("examples"));
        outcome->batch = whole<std::size_t>(json.at("batch"));
        outcome->seconds = json.at("seconds").get<double>();
        outcome->reference = accuracy(json.at("accuracy").at("reference"));
        outcome->other = accuracy(json.at("accuracy").at("other"));
        outcome->task = task(json.value("task", Json()));
        for (const Json &row : json.at("layers"))
            outcome->comparison.layers.push_back(layer(row));
        for (const Json &row : json.at("outputs")) {
            outcome->outputs.push_back(row.at("name").get<std::string>());
            outcome->comparison.outputs.push_back(output(row));
        }
        if (outcome->outputs.size() != m_snapshot.graph().heads().size())
            refuse("results.comparison.outputs", json.at("outputs"), "the number that the model has");
        outcome->comparison.threshold = real(json.at("threshold"));
        const std::size_t layers = outcome->comparison.layers.size();
        outcome->comparison.firstDivergence = index(json.at("first_divergence"), layers);
        outcome->comparison.firstUnclean = index(json.at("first_unclean"), layers);
        return outcome;
    }

    std::shared_ptr<const LatencyFigures> latency(const Json &json)
    {
        auto figures = std::make_shared<LatencyFigures>();
        figures->fp32 = one(json.at("fp32"));
        figures->mixed = one(json.at("mixed"));
        figures->native = json.at("native").get<bool>();
        const Json &versus = json.at("versus");
        figures->versus.medianMs = real(versus.at("median_ms"));
        figures->versus.ratio = real(versus.at("ratio"));
        figures->versus.ci95 = {real(versus.at("ci95").at(0)), real(versus.at("ci95").at(1))};
        figures->versus.isDisturbed = versus.value("disturbed", false); // not told by older sessions
        return figures;
    }

    std::optional<Error> error;

private:
    void refuse(const char *where, const Json &found, const char *expected)
    {
        if (!error)
            error = badInput(where, jsonText(found).substr(0, 40), expected);
    }

    /// A number of things. Nothing else is converted: a float that is too large has no whole number.
    template <class T>
    T whole(const Json &json)
    {
        if (json.is_number_unsigned() && json.get<std::uint64_t>() <= std::numeric_limits<T>::max())
            return json.get<T>();
        refuse("results", json, "a whole number");
        return 0;
    }

    double real(const Json &json)
    {
        if (json.is_number())
            return json.get<double>();
        const std::string text = json.get<std::string>();
        if (text == "inf")
            return std::numeric_limits<double>::infinity();
        if (text == "-inf")
            return -std::numeric_limits<double>::infinity();
        if (text != "nan")
            refuse("results", json, "a number, \"inf\", \"-inf\" or \"nan\"");
        return std::numeric_limits<double>::quiet_NaN();
    }

    std::optional<std::size_t> index(const Json &json, std::size_t size)
    {
        if (json.is_null())
            return std::nullopt;
        const auto at = whole<std::size_t>(json);
        if (at < size)
            return at;
        refuse("results.comparison", json, "the index of a layer");
        return std::nullopt;
    }

    std::optional<ErrorFigures> errors(const Json &json)
    {
        if (json.is_null())
            return std::nullopt;
        ErrorFigures figures;
        figures.count = whole<std::uint64_t>(json.at("count"));
        figures.nan = whole<std::uint64_t>(json.at("nan"));
        figures.overflow = whole<std::uint64_t>(json.at("overflow"));
        figures.maxAbs = real(json.at("max_abs"));
        figures.meanAbs = real(json.at("mean_abs"));
        figures.rmse = real(json.at("rmse"));
        if (!json.at("rel_l2").is_null())
            figures.relativeL2 = real(json.at("rel_l2"));
        figures.cosine = real(json.at("cosine"));
        figures.sqnrDb = real(json.at("sqnr_db"));
        figures.maxRelative = real(json.at("max_rel"));
        return figures;
    }

    std::optional<tasks::Accuracy> accuracy(const Json &json)
    {
        if (json.is_null())
            return std::nullopt;
        return tasks::Accuracy{json.at("top1").get<double>(), json.at("top5").get<double>(),
                               whole<std::size_t>(json.at("examples"))};
    }

    std::optional<double> realIfAny(const Json &json)
    {
        return json.is_null() ? std::nullopt : std::optional(real(json));
    }

    std::optional<tasks::TaskScore> task(const Json &json)
    {
        if (json.is_null())
            return std::nullopt;
        const auto metric = tasks::metricNamed(json.at("metric").get<std::string>());
        if (!metric)
            refuse("results.comparison.task.metric", json.at("metric"), "the name of a metric");
        return tasks::TaskScore{metric.value_or(tasks::Metric::Top1),
                                json.at("guessed").get<bool>(),
                                realIfAny(json.at("reference")),
                                realIfAny(json.at("other")),
                                realIfAny(json.at("agreement")),
                                whole<std::size_t>(json.at("examples")),
                                realIfAny(json.at("peak"))};
    }

    tensor::DType dtype(const Json &json)
    {
        const auto name = json.get<std::string>();
        const auto type = tensor::dtypeNamed(name);
        return type ? *type : tensor::DType::Unknown;
    }

    compare::LayerErrors layer(const Json &json)
    {
        compare::LayerErrors layer;
        layer.node = whole<graph::NodeId>(json.at("node"));
        if (layer.node >= m_snapshot.graph().nodeCount())
            refuse("results.comparison.layers", json.at("node"), "the number of a node");
        layer.output = whole<std::uint32_t>(json.at("output"));
        layer.dtype = dtype(json.at("dtype"));
        layer.cumulative = errors(json.at("cumulative"));
        layer.notFinite = whole<std::uint64_t>(json.at("not_finite"));
        layer.shapesDiffer = json.at("shapes_differ").get<bool>();
        if (json.contains("isolated")) {
            layer.isolated = errors(json.at("isolated"));
            layer.isolatedAtOutputs = errors(json.at("isolated_at_outputs"));
        }
        return layer;
    }

    compare::OutputErrors output(const Json &json)
    {
        compare::OutputErrors output;
        output.figures = errors(json.at("figures")).value_or(ErrorFigures());
        output.shapesDiffer = json.at("shapes_differ").get<bool>();
        if (json.contains("agreement")) {
            const Json &row = json.at("agreement");
            output.agreement = compare::Agreement{whole<std::size_t>(row.at("examples")),
                                                  row.at("top1").get<double>(), row.at("top5").get<double>(),
                                                  row.at("top1_in_top5").get<double>(), real(row.at("kl"))};
        }
        return output;
    }

    static kernels::StepKind stepKind(std::string_view name)
    {
        using kernels::StepKind;
        for (const StepKind kind : {StepKind::Cast, StepKind::Reorder, StepKind::Runtime})
            if (name == kernels::nameOf(kind))
                return kind;
        return StepKind::Compute;
    }

    latency::Latency one(const Json &json)
    {
        latency::Latency latency;
        latency.medianMs = json.at("median_ms").get<double>();
        latency.minMs = json.at("min_ms").get<double>();
        latency.p95Ms = json.at("p95_ms").get<double>();
        latency.castsUs = json.at("casts_us").get<double>();
        latency.sumOfLayersMs = json.at("sum_of_layers_ms").get<double>();
        if (const Json &bytes = json.at("peak_bytes"); !bytes.is_null())
            latency.peakBytes = whole<std::size_t>(bytes);
        latency.wasBusy = json.value("disturbed", false); // not told by older sessions
        for (const Json &row : json.at("layers")) {
            latency::LayerLatency layer;
            layer.step.nodes = row.at("names").get<std::vector<std::string>>();
            layer.step.op = row.at("op").get<std::string>();
            layer.step.dtype = dtype(row.at("dtype"));
            layer.step.kernel = row.at("kernel").get<std::string>();
            if (row.contains("asked") && !row.at("asked").is_null())
                layer.step.asked = dtype(row.at("asked"));
            layer.step.told = row.value("told", std::string());
            layer.step.kind = stepKind(row.at("kind").get<std::string>());
            layer.medianUs = row.at("median_us").get<double>();
            layer.minUs = row.at("min_us").get<double>();
            layer.limitUs = realIfAny(row.value("limit_us", Json()));
            latency.layers.push_back(std::move(layer));
        }
        latency.limitMs = realIfAny(json.value("limit_ms", Json()));
        latency.deviceMs = realIfAny(json.value("device_ms", Json()));
        if (json.contains("runtime")) {
            const Json &runtime = json.at("runtime");
            latency.runtime
                = {runtime.at("name").get<std::string>(), runtime.at("version").get<std::string>(),
                   runtime.at("device").get<std::string>()};
        }
        if (json.contains("launches")) {
            const Json &launches = json.at("launches");
            latency.launches.emplace().planned = whole<std::size_t>(launches.at("planned"));
            if (!launches.at("measured").is_null())
                latency.launches->measured = whole<std::size_t>(launches.at("measured"));
        }
        return latency;
    }

    const Snapshot &m_snapshot;
};

} // namespace

std::string resultsText(const Snapshot &snapshot, const Figures &figures)
{
    Json results = Json::object();
    if (figures.comparison && figures.comparisonRevision == snapshot.revision
        && figures.comparison->examples == figures.comparison->expected)
        results["comparison"]
            = jsonOf(*figures.comparison,
                     figures.comparison->isWhole && figures.isolatedRevision == figures.comparisonRevision);
    if (results.contains("comparison") && !figures.comparisonBasis.empty())
        results["comparison"]["basis"] = figures.comparisonBasis;
    if (figures.latency && figures.latencyRevision == snapshot.revision) {
        const latency::Versus &versus = figures.latency->versus;
        results["latency"]
            = {{"fp32", report::latencyObject(figures.latency->fp32)},
               {"mixed", report::latencyObject(figures.latency->mixed)},
               {"native", figures.latency->native},
               {"versus",
                {{"median_ms", report::jsonNumber(versus.medianMs)},
                 {"ratio", report::jsonNumber(versus.ratio)},
                 {"ci95", {report::jsonNumber(versus.ci95[0]), report::jsonNumber(versus.ci95[1])}},
                 {"disturbed", versus.isDisturbed}}}};
        if (!figures.latencyBasis.empty())
            results["latency"]["basis"] = figures.latencyBasis;
    }
    return results.empty() ? std::string() : jsonText(results);
}

Result<Figures> readResults(std::string_view text, const Snapshot &snapshot)
{
    const Json root = parseOrdered(text);
    if (!root.is_object())
        return badInput("results", root.is_discarded() ? "not JSON" : root.type_name(), "an object");
    Figures figures;
    ResultsReader reader(snapshot);
    try {
        if (root.contains("comparison") && snapshot.converted) {
            figures.comparison = reader.comparison(root.at("comparison"));
            figures.comparisonRevision = snapshot.revision;
            figures.comparisonBasis = root.at("comparison").value("basis", std::string());
            if (root.at("comparison").at("isolated").get<bool>())
                figures.isolatedRevision = snapshot.revision;
        }
        if (root.contains("latency")) {
            figures.latency = reader.latency(root.at("latency"));
            figures.latencyRevision = snapshot.revision;
            figures.latencyBasis = root.at("latency").value("basis", std::string());
        }
    } catch (const Json::exception &exception) {
        return badInput("results", exception.what(), "the content of a session");
    }
    if (reader.error)
        return *reader.error;
    gatherByNode(figures, snapshot.graph());
    return figures;
}

} // namespace halftone::session
