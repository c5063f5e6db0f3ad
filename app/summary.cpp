#include "app/summary.h"

#include "widgets/common/formatters.h"

#include <QCoreApplication>
#include <QStringList>

namespace halftone::app {
namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("summary", text);
}

QString percent(double share)
{
    return QString::number(share * 100, 'f', 1);
}

QString marked(const QString &text, bool stale)
{
    return stale ? '(' + text + ')' : text;
}

QString accuracyOf(const session::CompareOutcome &outcome)
{
    const QString arrow = QStringLiteral(" \u2192 ");
    if (outcome.reference && outcome.other)
        return tr("top-1 ") + percent(outcome.reference->top1) + arrow + percent(outcome.other->top1)
            + QStringLiteral("\u202f%");
    if (outcome.comparison.outputs.empty())
        return {};
    const profile::OutputErrors &output = outcome.comparison.outputs.front();
    if (output.agreement)
        return tr("same first class for ") + percent(output.agreement->top1) + QStringLiteral("\u202f%");
    return tr("output ") + widgets::decibels(output.figures.sqnrDb) + QStringLiteral("\u202fdB");
}

QString latencyOf(const session::LatencyFigures &latency)
{
    if (!latency.native)
        return tr("emulated here: no times");
    const auto milliseconds = [](double value) { return widgets::significant(value); };
    const double spread = (latency.versus.ci95[1] - latency.versus.ci95[0]) / 2;
    return milliseconds(latency.versus.medianMs) + QStringLiteral(" \u2192 ")
        + milliseconds(latency.mixed.medianMs) + QStringLiteral("\u202fms (\u00d7")
        + QString::number(latency.versus.ratio, 'f', 2) + QStringLiteral(" \u00b1")
        + QString::number(spread, 'f', 2) + ')';
}

} // namespace

QString summaryOf(const session::Snapshot &snapshot, const session::Figures &figures)
{
    QStringList parts;
    const graph::Graph &graph = snapshot.graph();
    std::size_t ops = 0;
    std::size_t lowered = 0;
    std::size_t coded = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id))
            continue;
        ++ops;
        lowered += snapshot.precisionOf(id) == snapshot.policy->target ? 1 : 0;
        coded += snapshot.precisionOf(id) == tensor::DType::I8 ? 1 : 0;
    }
    const QString target = QString::fromUtf8(tensor::nameOf(snapshot.policy->target).data());
    parts << (coded > 0 ? tr("%1 of %2 ops in int8, %3 in %4").arg(coded).arg(ops).arg(lowered).arg(target)
                        : tr("%1 of %2 ops in %3").arg(lowered).arg(ops).arg(target));
    const std::size_t casts = snapshot.castCount();
    const std::size_t shared = snapshot.converted ? snapshot.converted->conversion.castCounts().shared : 0;
    parts << (casts == 1 ? tr("1 cast") : tr("%1 casts").arg(casts))
            + (shared > 0 ? tr(" (%1 shared)").arg(shared) : QString());
    if (figures.comparison) {
        const QString accuracy = accuracyOf(*figures.comparison);
        if (!accuracy.isEmpty())
            parts << marked(accuracy, figures.comparisonRevision != snapshot.revision);
    }
    if (figures.latency)
        parts << marked(latencyOf(*figures.latency), figures.latencyRevision != snapshot.revision);
    return parts.join(QStringLiteral(" \u00b7 "));
}

} // namespace halftone::app
