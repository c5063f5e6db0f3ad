#include "app/summary.h"

#include "core/rewrite/nested_conversions.h"
#include "widgets/common/constant_nodes.h"
#include "widgets/common/formatters.h"
#include "widgets/models/latency_words.h"

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

QString latencyOf(const session::Snapshot &snapshot, const session::Figures &figures)
{
    return marked(widgets::latencyWords(*figures.latency, snapshot.target()).sentence(),
                  figures.latencyRevision != snapshot.revision);
}

Score scoreOf(const tasks::ScoreWords &words)
{
    const auto text = [](const std::string &one) { return widgets::plain(one); };
    const bool isExact = words.other == "exact";
    return Score{text(words.name), text(words.reference), text(words.other),
                 isExact ? QString() : text(words.unit)};
}

} // namespace

QString Score::text() const
{
    const QString before = reference.isEmpty() ? QString() : reference + QStringLiteral(" \u2192 ");
    return name + ' ' + before + converted + (unit.isEmpty() ? QString() : QChar(0x202f) + unit);
}

std::optional<Score> scoreOf(const walks::CompareOutcome &outcome, ComparedOn inputs)
{
    if (const auto words
        = outcome.task && inputs == ComparedOn::Data ? tasks::wordsOf(*outcome.task) : std::nullopt)
        return scoreOf(*words);
    if (outcome.reference && outcome.other) // of an older session
        return Score{tr("top-1"), percent(outcome.reference->top1), percent(outcome.other->top1),
                     QStringLiteral("%")};
    if (outcome.comparison.outputs.empty())
        return std::nullopt;
    const compare::OutputErrors &output = outcome.comparison.outputs.front();
    if (output.agreement && inputs == ComparedOn::Data)
        return Score{tr("top-1 agreement"), {}, percent(output.agreement->top1), QStringLiteral("%")};
    return Score{tr("output"), {}, widgets::decibels(output.figures.sqnrDb), QStringLiteral("dB")};
}

QString summaryOf(const session::Snapshot &snapshot, const session::Figures &figures, ComparedOn inputs)
{
    QStringList parts;
    std::size_t ops = 0;
    std::size_t lowered = 0;
    std::size_t coded = 0;
    const auto add = [&](tensor::DType precision, std::size_t count) {
        ops += count;
        lowered += precision == snapshot.target() ? count : 0;
        coded += precision == tensor::DType::I8 ? count : 0;
    };
    for (const graph::NodeId id : widgets::computingNodes(snapshot.graph()))
        add(snapshot.precisionOf(id), 1);
    for (const auto &[precision, operators] : snapshot.operatorsInBodies())
        for (const auto &[op, count] : operators)
            add(precision, count);
    if (!snapshot.converted)
        return snapshot.isAwaited() ? tr("%1 ops, being converted").arg(ops)
                                    : tr("%1 ops, not converted").arg(ops);
    const QString target = QString::fromUtf8(tensor::nameOf(snapshot.target()).data());
    parts << (coded > 0 ? tr("%1 of %2 ops in int8, %3 in %4").arg(coded).arg(ops).arg(lowered).arg(target)
                        : tr("%1 of %2 ops in %3").arg(lowered).arg(ops).arg(target));
    const std::size_t casts = snapshot.castCount();
    const std::size_t shared = rewrite::castTotals(snapshot.converted->conversion).shared;
    parts << (casts == 1 ? tr("1 cast") : tr("%1 casts").arg(casts))
            + (shared > 0 ? tr(" (%1 shared)").arg(shared) : QString());
    if (figures.comparison) {
        const walks::CompareOutcome &outcome = *figures.comparison;
        const QString over = outcome.examples < outcome.expected
            ? tr(" over %1 of %2 examples").arg(outcome.examples).arg(outcome.expected)
            : QString();
        const QString on = inputs == ComparedOn::DrawnInputs ? tr(" on random inputs") : QString();
        if (const auto score = scoreOf(outcome, inputs))
            parts << marked(score->text() + on + over, figures.comparisonRevision != snapshot.revision);
    }
    if (figures.latency)
        parts << latencyOf(snapshot, figures);
    return parts.join(QStringLiteral(" \u00b7 "));
}

QString warningOf(const session::Snapshot &snapshot, const session::Figures &figures)
{
    const bool warns = figures.latency && widgets::latencyWords(*figures.latency, snapshot.target()).warns();
    return warns ? latencyOf(snapshot, figures) : QString();
}

} // namespace halftone::app
