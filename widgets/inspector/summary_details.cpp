#include "core/dialect/held_reals.h"
#include "core/rewrite/nested_conversions.h"
#include "widgets/common/constant_nodes.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"
#include "widgets/inspector/details.h"
#include "widgets/models/latency_words.h"

#include <QLocale>

#include <algorithm>
#include <map>

namespace halftone::widgets {
namespace {

using tensor::DType;

using OperatorCounts = std::map<DType, std::map<std::string, std::size_t>>;

/// How many nodes compute in which type, the most frequent first.
DetailSection mixOf(const session::Snapshot &snapshot, std::span<const graph::NodeId> nodes,
                    const OperatorCounts &bodies = {})
{
    DetailSection section{QStringLiteral("Precision"), {}};
    std::map<DType, std::size_t> counts;
    for (const graph::NodeId node : nodes)
        ++counts[snapshot.precisionOf(node)];
    for (const auto &[type, operators] : bodies)
        for (const auto &[op, count] : operators)
            counts[type] += count;
    std::vector<std::pair<DType, std::size_t>> sorted(counts.begin(), counts.end());
    std::ranges::stable_sort(sorted, std::greater(), &std::pair<DType, std::size_t>::second);
    for (const auto &[type, count] : sorted) {
        const QString name
            = type == DType::Unknown ? QStringLiteral("unknown") : plain(std::string(tensor::nameOf(type)));
        section.rows.push_back({name, counted(count, "operator", "operators"), {}, false, false, type});
    }
    return section;
}

DetailSection operatorsOf(const graph::Graph &graph, std::span<const graph::NodeId> nodes,
                          const OperatorCounts &bodies = {})
{
    DetailSection section{QStringLiteral("Operators"), {}};
    std::map<std::string, std::size_t> counts;
    for (const graph::NodeId node : nodes)
        ++counts[graph.node(node).op];
    for (const auto &[type, operators] : bodies)
        for (const auto &[op, count] : operators)
            counts[op] += count;
    std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
    std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::size_t>::second);
    constexpr std::size_t kMostShown = 12;
    for (std::size_t k = 0; k < std::min(sorted.size(), kMostShown); ++k)
        section.rows.push_back(
            {plain(sorted[k].first), QString::number(sorted[k].second), {}, false, false, {}});
    if (sorted.size() > kMostShown)
        section.rows.push_back(
            {QStringLiteral("and %1 more").arg(sorted.size() - kMostShown), {}, {}, false, false, {}});
    return section;
}

DetailSection parametersOf(const session::Snapshot &snapshot)
{
    DetailSection section;
    const graph::Model &source = snapshot.source->model;
    if (!source.hasParameters) {
        section.rows.push_back(
            {QStringLiteral("parameters"), QStringLiteral("none loaded"), {}, false, false, {}});
        return section;
    }
    const auto bytesIn = [](const graph::Model &model) {
        std::size_t bytes = 0;
        for (const tensor::Array &array : model.parameters)
            bytes += array.values.storedBytes();
        for (const tensor::Tensor &held : dialect::heldRealsOfBodies(model.graph))
            bytes += held.storedBytes();
        return bytes;
    };
    std::size_t values = 0;
    for (const tensor::Array &array : source.parameters)
        values += array.values.elementCount();
    const std::vector<tensor::Tensor> held = dialect::heldRealsOfBodies(source.graph);
    for (const tensor::Tensor &one : held)
        values += one.elementCount();
    const std::size_t before = bytesIn(source);
    const std::size_t after = snapshot.converted ? bytesIn(snapshot.converted->model) : before;
    QString text = bytesText(before);
    if (after != before)
        text += QStringLiteral(" \u2192 ") + bytesText(after);
    section.rows.push_back(
        {QStringLiteral("parameters"),
         QStringLiteral("%1 in %2, %3")
             .arg(QLocale(QLocale::English).toString(static_cast<qulonglong>(values)))
             .arg(counted(source.parameters.size() + held.size(), "array", "arrays"), text),
         {},
         false,
         false,
         {}});
    return section;
}

/// What the task is judged by: against what is right, and against float32.
template <class Add>
void addTask(const tasks::TaskScore &task, const Add &add)
{
    const auto words = tasks::wordsOf(task);
    if (!words)
        return;
    const QString guessed = task.isGuessed && task.metric != tasks::Metric::Top1
        ? QStringLiteral(" (guessed: Ctrl+D)")
        : QString();
    const auto text = [](const std::string &one) { return plain(one).replace(u' ', QChar(0xa0)); };
    add(plain(words->name) + guessed, text(words->values()), task.isWorse());
    if (task.reference && task.agreement) {
        const auto agreement
            = tasks::wordsOf({task.metric, false, {}, {}, task.agreement, task.examples, {}});
        add(plain(agreement->name), text(agreement->values()), false);
    }
}

void addAccuracy(const session::Snapshot &snapshot, const session::Figures &figures, Details &details)
{
    if (!figures.comparison)
        return;
    DetailSection section{QStringLiteral("Compared with the source"), {}};
    const walks::CompareOutcome &outcome = *figures.comparison;
    const bool isStale = figures.comparisonRevision != snapshot.revision;
    const auto add = [&](const QString &label, const QString &value, bool isWarning = false,
                         std::optional<graph::NodeId> link = {}) {
        section.rows.push_back({label, value, link, isWarning, isStale, {}});
    };
    if (outcome.task)
        addTask(*outcome.task, add);
    for (std::size_t k = 0; k < std::min<std::size_t>(outcome.comparison.outputs.size(), 8); ++k) {
        const tensor::ErrorFigures &error = outcome.comparison.outputs[k].figures;
        const QString name
            = k < outcome.outputs.size() ? plain(outcome.outputs[k]) : QStringLiteral("output");
        add(name, decibels(error.sqnrDb) + QStringLiteral(" dB"), error.nan + error.overflow > 0);
    }
    if (const auto first = outcome.comparison.firstDivergence) {
        const graph::NodeId node = outcome.comparison.layers[*first].node;
        add(QStringLiteral("first layer below %1 dB").arg(decibels(outcome.comparison.threshold)),
            plain(snapshot.graph().node(node).name), true, node);
    }
    if (outcome.examples > 0)
        add(QStringLiteral("over"),
            outcome.examples < outcome.expected
                ? QStringLiteral("%1 of %2 examples").arg(outcome.examples).arg(outcome.expected)
                : counted(outcome.examples, "example", "examples"));
    details.sections.push_back(std::move(section));
}

void addLatency(const session::Snapshot &snapshot, const session::Figures &figures, Details &details)
{
    if (!figures.latency)
        return;
    DetailSection section{QStringLiteral("Time"), {}};
    const session::LatencyFigures &latency = *figures.latency;
    const bool isStale = figures.latencyRevision != snapshot.revision;
    const LatencyWords words = latencyWords(latency, snapshot.target());
    const auto add = [&](const char *name, const QString &text, bool warns) {
        section.rows.push_back({QLatin1String(name), text, {}, warns, isStale, {}});
    };
    add("fp32", words.fp32, false);
    if (words.notTimed.isEmpty()) {
        add("mixed", words.mixed, false);
        add("ratio", words.ratio, words.isSlower);
    } else {
        add("mixed", words.notTimed, true);
    }
    for (const auto &[name, text] :
         {std::pair("GPU time", words.onDevice), std::pair("kernels", words.kernels),
          std::pair("limit", words.limit), std::pair("types", words.types)}) {
        if (!text.isEmpty())
            add(name, text, false);
    }
    if (words.isSlower)
        add("", QStringLiteral("no speed-up on this machine"), true);
    if (words.isDisturbed)
        add("", QStringLiteral("machine was busy: unreliable"), true);
    details.sections.push_back(std::move(section));
}

void addWarnings(const session::Snapshot &snapshot, Details &details)
{
    DetailSection section{QStringLiteral("Warnings"), {}};
    const auto &warnings = snapshot.converted->warnings;
    constexpr std::size_t kMostShown = 8;
    for (std::size_t k = 0; k < std::min(warnings.size(), kMostShown); ++k)
        section.rows.push_back({QString(),
                                plain(warnings[k].entry) + QStringLiteral(": ") + plain(warnings[k].text),
                                {},
                                true,
                                false,
                                {}});
    if (warnings.size() > kMostShown)
        section.rows.push_back({QString(),
                                QStringLiteral("and %1 more").arg(warnings.size() - kMostShown),
                                {},
                                false,
                                false,
                                {}});
    if (!section.rows.empty())
        details.sections.push_back(std::move(section));
}

} // namespace

Details describeNodes(const session::Snapshot &snapshot, const session::Figures &figures,
                      std::span<const graph::NodeId> nodes)
{
    const graph::Graph &graph = snapshot.graph();
    Details details{counted(nodes.size(), "node selected", "nodes selected"), QString(), {}};
    std::vector<graph::NodeId> operators;
    std::ranges::copy_if(nodes, std::back_inserter(operators),
                         [&](graph::NodeId id) { return !graph.isVariable(id); });
    if (const std::size_t variables = nodes.size() - operators.size(); variables > 0)
        details.subtitle = QStringLiteral("%1 among them").arg(counted(variables, "variable", "variables"));
    if (snapshot.converted)
        details.sections.push_back(mixOf(snapshot, operators));
    details.sections.push_back(operatorsOf(graph, operators));
    DetailSection figuresSection{QStringLiteral("Figures"), {}};
    std::optional<double> worst;
    std::optional<graph::NodeId> worstNode;
    double fp32 = 0;
    double mixed = 0;
    std::map<std::uint32_t, double> fp32Steps; // a fused step counts once
    std::map<std::uint32_t, double> mixedSteps;
    for (const graph::NodeId node : operators) {
        if (node >= figures.nodes.size())
            continue;
        const session::NodeFigures &known = figures.nodes[node];
        if (known.cumulative && (!worst || !(known.cumulative->sqnrDb >= *worst))) {
            worst = known.cumulative->sqnrDb;
            worstNode = node;
        }
        if (known.fp32)
            fp32Steps[known.fp32->step] = known.fp32->microseconds;
        if (known.mixed)
            mixedSteps[known.mixed->step] = known.mixed->microseconds;
    }
    for (const auto &[step, time] : fp32Steps)
        fp32 += time;
    for (const auto &[step, time] : mixedSteps)
        mixed += time;
    const bool errorsStale = figures.comparisonRevision != snapshot.revision;
    const bool timesStale = figures.latencyRevision != snapshot.revision;
    if (worst)
        figuresSection.rows.push_back(
            {QStringLiteral("lowest SQNR"),
             decibels(*worst) + QStringLiteral(" dB, ") + plain(graph.node(*worstNode).name),
             worstNode,
             false,
             errorsStale,
             {}});
    if (!fp32Steps.empty())
        figuresSection.rows.push_back({QStringLiteral("time in fp32"),
                                       microseconds(fp32) + QStringLiteral(" \u00b5s"),
                                       {},
                                       false,
                                       timesStale,
                                       {}});
    if (!mixedSteps.empty())
        figuresSection.rows.push_back({QStringLiteral("time, mixed"),
                                       microseconds(mixed) + QStringLiteral(" \u00b5s"),
                                       {},
                                       false,
                                       timesStale,
                                       {}});
    if (!figuresSection.rows.empty())
        details.sections.push_back(std::move(figuresSection));
    return details;
}

Details describeModel(const session::Snapshot &snapshot, const session::Figures &figures)
{
    const graph::Graph &graph = snapshot.graph();
    const std::vector<graph::NodeId> operators = computingNodes(graph);
    std::size_t constants = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        constants += isConstantNode(graph, id) ? 1 : 0;
    const OperatorCounts bodies = snapshot.operatorsInBodies();
    std::size_t within = 0;
    for (const auto &[type, counts] : bodies)
        for (const auto &[op, count] : counts)
            within += count;
    Details details{shownName(pathText(snapshot.source->modelPath)),
                    counted(operators.size(), "operator", "operators")
                        + (within > 0 ? QStringLiteral(", %1 in bodies").arg(within) : QString())
                        + (constants > 0 ? QStringLiteral(", ") + counted(constants, "constant", "constants")
                                         : QString()),
                    {}};
    DetailSection first = parametersOf(snapshot);
    if (snapshot.converted) {
        const rewrite::CastCounts counts = rewrite::castTotals(snapshot.converted->conversion);
        QString text = QString::number(snapshot.castCount());
        if (counts.shared > 0)
            text += QStringLiteral(" (%1 shared)").arg(counts.shared);
        first.rows.push_back({QStringLiteral("casts"), text, {}, false, false, {}});
    }
    if (snapshot.error)
        first.rows.push_back(
            {snapshot.error->code == Errc::Cancelled ? QStringLiteral("conversion") : QStringLiteral("error"),
             plain(snapshot.error->message()),
             {},
             true,
             false,
             {}});
    details.sections.push_back(std::move(first));
    if (snapshot.converted)
        details.sections.push_back(mixOf(snapshot, operators, bodies));
    addAccuracy(snapshot, figures, details);
    addLatency(snapshot, figures, details);
    if (snapshot.converted)
        addWarnings(snapshot, details);
    details.sections.push_back(operatorsOf(graph, operators, bodies));
    return details;
}

} // namespace halftone::widgets
