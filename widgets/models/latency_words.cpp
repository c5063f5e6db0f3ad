#include "widgets/models/latency_words.h"

#include "widgets/common/formatters.h"

#include <QCoreApplication>

namespace halftone::widgets {
namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("latency", text);
}

QString milliseconds(double value)
{
    return significant(value) + QStringLiteral("\u202fms");
}

} // namespace

QString LatencyWords::sentence() const
{
    return fp32 + QStringLiteral(" \u2192 ") + mixed + QStringLiteral(" (") + ratio
        + (isDisturbed ? tr("; machine busy, not to be trusted)") : QStringLiteral(")"));
}

LatencyWords latencyWords(const session::LatencyFigures &latency)
{
    const profile::Versus &versus = latency.versus;
    LatencyWords words;
    words.fp32 = milliseconds(versus.medianMs);
    words.mixed = milliseconds(versus.medianMs * versus.ratio);
    words.isSlower = versus.ci95[0] > 1;
    const QString spread = QString::number((versus.ci95[1] - versus.ci95[0]) / 2, 'f', 2);
    words.ratio = QStringLiteral("\u00d7%1 \u00b1%2").arg(versus.ratio, 0, 'f', 2).arg(spread);
    if (words.isSlower)
        words.ratio += tr(", slower");
    words.isDisturbed = profile::isDisturbed(latency.fp32) || profile::isDisturbed(latency.mixed);
    return words;
}

} // namespace halftone::widgets
