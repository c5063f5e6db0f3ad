#include "widgets/inspector/detail_parts.h"

#include "core/base/text.h"
#include "widgets/common/formatters.h"

#include <QStringList>

namespace halftone::widgets {
namespace {

using tensor::ErrorFigures;

/// "41.0 dB, isolated 44.7 dB"
QString both(const std::optional<ErrorFigures> &cumulative, const std::optional<ErrorFigures> &isolated,
             QString (*text)(const ErrorFigures &))
{
    QStringList parts;
    if (cumulative)
        parts << text(*cumulative);
    if (isolated)
        parts << QStringLiteral("isolated %1").arg(text(*isolated));
    return parts.join(QStringLiteral(", "));
}

QString sqnrText(const ErrorFigures &figures)
{
    const QString value = decibels(figures.sqnrDb);
    return value == QStringLiteral("failed") ? value : value + QStringLiteral(" dB");
}

QString maxText(const ErrorFigures &figures)
{
    return significant(figures.maxAbs);
}

QString relativeText(const ErrorFigures &figures)
{
    return figures.relativeL2 ? significant(*figures.relativeL2) : QStringLiteral("\u2013");
}

/// "ONNX Runtime ran it in float32, not in float16 (f32)"
QString ranInText(const session::NodeLatency &latency, const latency::Latency &whole)
{
    const auto name = [](tensor::DType type) { return plain(std::string(tensor::nameOf(type))); };
    QString text = QStringLiteral("%1 ran it in %2")
                       .arg(plain(whole.runtime ? whole.runtime->name : std::string("the runtime")),
                            name(latency.ranIn));
    if (latency.asked != tensor::DType::Unknown)
        text += QStringLiteral(", not in ") + name(latency.asked);
    if (latency.step < whole.layers.size() && !whole.layers[latency.step].step.told.empty())
        text += QStringLiteral(" (%1)").arg(plain(whole.layers[latency.step].step.told));
    return text;
}

} // namespace

QString otherChoiceText(const rewrite::TypeChoice &choice)
{
    const QString other = plain(std::string(tensor::nameOf(choice.other)));
    if (choice.losesBits)
        return QStringLiteral("cannot be %1: a consumer needs the bits it would drop").arg(other);
    if (choice.casts == 0 && choice.bytes == 0)
        return QStringLiteral("in %1: same number of casts").arg(other);
    const auto bytes = static_cast<std::int64_t>(std::abs(choice.bytes));
    QString text = choice.casts == 0 ? QStringLiteral("in %1: same number of casts").arg(other)
                                     : QStringLiteral("in %1: %2 %3 %4")
                                           .arg(other)
                                           .arg(std::abs(choice.casts))
                                           .arg(QLatin1String(std::abs(choice.casts) == 1 ? "cast" : "casts"),
                                                QLatin1String(choice.casts > 0 ? "more" : "fewer"));
    if (bytes > 0)
        text += QStringLiteral(", %1 %2 to cast")
                    .arg(bytesText(bytes), QLatin1String(choice.bytes > 0 ? "more" : "less"));
    return text;
}

DetailSection errorSection(const session::Snapshot &snapshot, const session::Figures &figures,
                           graph::NodeId node)
{
    DetailSection section{QStringLiteral("Error"), {}};
    if (node >= figures.nodes.size())
        return section;
    const session::NodeFigures &known = figures.nodes[node];
    if (!known.cumulative && !known.isolated)
        return section;
    const bool isStale = figures.comparisonRevision != snapshot.revision
        || (known.isolated && figures.isolatedRevision != snapshot.revision);
    const auto add = [&](const QString &label, const QString &value, bool isWarning) {
        section.rows.push_back({label, value, {}, isWarning, isStale, {}});
    };
    add(QStringLiteral("SQNR"), both(known.cumulative, known.isolated, sqnrText), false);
    add(QStringLiteral("max abs"), both(known.cumulative, known.isolated, maxText), false);
    add(QStringLiteral("relative L2"), both(known.cumulative, known.isolated, relativeText), false);
    const auto odd = [&](const QString &label, std::uint64_t ErrorFigures::*member) {
        const std::uint64_t count
            = known.cumulative ? (*known.cumulative).*member : (*known.isolated).*member;
        const std::uint64_t all = known.cumulative ? known.cumulative->count : known.isolated->count;
        add(label, QStringLiteral("%1 of %2 values").arg(plain(grouped(count)), plain(grouped(all))),
            count > 0);
    };
    odd(QStringLiteral("overflow"), &ErrorFigures::overflow);
    odd(QStringLiteral("NaN"), &ErrorFigures::nan);
    return section;
}

DetailSection timeSection(const session::Snapshot &snapshot, const session::Figures &figures,
                          graph::NodeId node)
{
    DetailSection section{QStringLiteral("Time"), {}};
    if (node >= figures.nodes.size())
        return section;
    const session::NodeFigures &known = figures.nodes[node];
    const bool isStale = figures.latencyRevision != snapshot.revision;
    const auto add = [&](const QString &label, const std::optional<session::NodeLatency> &latency,
                         const latency::Latency *whole) {
        if (!latency)
            return;
        QString text = microseconds(latency->microseconds) + QStringLiteral(" \u00b5s");
        if (latency->fusedWith > 0)
            text += QStringLiteral(", fused with %1 %2")
                        .arg(latency->fusedWith)
                        .arg(QLatin1String(latency->fusedWith == 1 ? "other" : "others"));
        section.rows.push_back({label, text, {}, false, isStale, {}});
        if (whole && latency->step < whole->layers.size()
            && !whole->layers[latency->step].step.kernel.empty())
            section.rows.push_back(
                {QString(), plain(whole->layers[latency->step].step.kernel), {}, false, isStale, {}});
        if (whole && latency->ranIn != tensor::DType::Unknown)
            section.rows.push_back({QString(),
                                    ranInText(*latency, *whole),
                                    {},
                                    latency->asked != tensor::DType::Unknown,
                                    isStale,
                                    {}});
    };
    add(QStringLiteral("fp32"), known.fp32, figures.latency ? &figures.latency->fp32 : nullptr);
    add(QStringLiteral("mixed"), known.mixed, figures.latency ? &figures.latency->mixed : nullptr);
    return section;
}

} // namespace halftone::widgets
