#include "widgets/models/latency_words.h"

#include "core/report/as_asked.h"
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

QString arrow()
{
    return QStringLiteral(" \u2192 ");
}

/// "0.036 ms → 0.018 ms", or of float32 alone; empty where float32 has none.
QString pairOf(const std::optional<double> &fp32, const std::optional<double> &mixed)
{
    if (!fp32)
        return {};
    return milliseconds(*fp32) + (mixed ? arrow() + milliseconds(*mixed) : QString());
}

QString countsOf(std::size_t fp32, const std::optional<std::size_t> &mixed)
{
    return QString::number(fp32) + (mixed ? arrow() + QString::number(*mixed) : QString());
}

void addDevice(const latency::Latency &fp32, const latency::Latency *mixed, LatencyWords &words)
{
    const auto pair = [&](std::optional<double> latency::Latency::*member) {
        return pairOf(fp32.*member, mixed ? mixed->*member : std::nullopt);
    };
    words.onDevice = pair(&latency::Latency::deviceMs);
    words.limit = pair(&latency::Latency::limitMs);
    if (!fp32.launches)
        return;
    const auto other = mixed ? mixed->launches : std::optional<kernels::Launches>();
    words.kernels
        = tr("%1 planned")
              .arg(countsOf(fp32.launches->planned, other ? std::optional(other->planned) : std::nullopt));
    if (fp32.launches->measured)
        words.kernels += tr(", %1 launched")
                             .arg(countsOf(*fp32.launches->measured, other ? other->measured : std::nullopt));
}

} // namespace

QString LatencyWords::ofDevice() const
{
    QStringList parts;
    if (!onDevice.isEmpty())
        parts << tr("GPU time %1").arg(onDevice);
    if (!kernels.isEmpty())
        parts << tr("kernels %1").arg(kernels);
    if (!limit.isEmpty())
        parts << tr("limit %1").arg(limit);
    return parts.join(QStringLiteral(" \u00b7 "));
}

QString LatencyWords::sentence() const
{
    const QString busy = isDisturbed ? tr("; machine was busy: unreliable") : QString();
    if (!notTimed.isEmpty())
        return tr("fp32 %1; %2").arg(fp32, notTimed) + busy;
    const QString ran = types.isEmpty() ? QString() : QStringLiteral("; ") + types;
    const QString vain = isSlower ? tr(": no speed-up on this machine") : QString();
    return fp32 + arrow() + mixed + QStringLiteral(" (") + ratio + vain + busy + QLatin1Char(')') + ran;
}

LatencyWords latencyWords(const session::LatencyFigures &latency, tensor::DType target)
{
    const latency::Versus &versus = latency.versus;
    LatencyWords words;
    addDevice(latency.fp32, latency.native ? &latency.mixed : nullptr, words);
    words.types = plain(report::asAskedLine(latency.native ? latency.mixed : latency.fp32));
    if (!latency.native) {
        words.fp32 = milliseconds(latency.fp32.medianMs);
        words.notTimed
            = tr("%1 is emulated on this machine, not timed").arg(plain(std::string(tensor::nameOf(target))));
        words.isDisturbed = latency::isDisturbed(latency.fp32);
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
        = versus.isDisturbed || latency::isDisturbed(latency.fp32) || latency::isDisturbed(latency.mixed);
    return words;
}

} // namespace halftone::widgets
