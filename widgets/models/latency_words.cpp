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
    const QString busy = isDisturbed ? tr("; machine was busy, unreliable") : QString();
    if (!notTimed.isEmpty())
        return tr("fp32 %1; %2").arg(fp32, notTimed) + busy;
    const QString vain = isSlower ? tr(": no gain on this machine") : QString();
    return fp32 + QStringLiteral(" \u2192 ") + mixed + QStringLiteral(" (") + ratio + vain + busy
        + QLatin1Char(')');
}

LatencyWords latencyWords(const session::LatencyFigures &latency, tensor::DType target)
{
    const profile::Versus &versus = latency.versus;
    LatencyWords words;
    if (!latency.native) {
        words.fp32 = milliseconds(latency.fp32.medianMs);
        words.notTimed
            = tr("%1 is emulated on this machine, not timed").arg(plain(std::string(tensor::nameOf(target))));
        words.isDisturbed = profile::isDisturbed(latency.fp32);
        return words;
    }
    words.fp32 = milliseconds(versus.medianMs);
    words.mixed = milliseconds(versus.medianMs * versus.ratio);
    words.isSlower = versus.ci95[0] > 1;
    const QString spread = QString::number((versus.ci95[1] - versus.ci95[0]) / 2, 'f', 2);
    words.ratio = QStringLiteral("\u00d7%1 \u00b1%2").arg(versus.ratio, 0, 'f', 2).arg(spread);
    if (words.isSlower)
        words.ratio += tr(", slower");
    words.isDisturbed
        = versus.isDisturbed || profile::isDisturbed(latency.fp32) || profile::isDisturbed(latency.mixed);
    return words;
}

} // namespace halftone::widgets
