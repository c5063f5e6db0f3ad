#include "widgets/models/threshold_words.h"

#include "widgets/common/formatters.h"

#include <QCoreApplication>

namespace halftone::widgets {
namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("Thresholds", text);
}

} // namespace

QString methodText(policy::ThresholdMethod method)
{
    const std::string_view name = policy::nameOf(method);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QString markText(const calibration::ThresholdMark &mark)
{
    return mark.options.method == policy::ThresholdMethod::Percentile
        ? QLatin1Char('p') + QString::number(mark.options.percentile)
        : methodText(mark.options.method);
}

QString shareText(double share)
{
    if (share <= 0)
        return tr("none");
    return share < 1e-6 ? tr("< 0.0001 %") : tr("%1 %").arg(significant(100 * share));
}

QString clippedText(double share)
{
    return share <= 0 ? tr("nothing clipped") : tr("%1 clipped").arg(shareText(share));
}

QString figuresText(const calibration::ThresholdFigures &figures, const std::optional<double> &minMaxDb)
{
    QStringList parts{clippedText(figures.clipped)};
    parts << tr("KL %1").arg(significant(figures.divergence));
    QString sqnr = figures.sqnrDb ? tr("%1 dB").arg(decibels(*figures.sqnrDb)) : tr("no signal");
    if (minMaxDb)
        sqnr += tr(" (minmax %1)").arg(decibels(*minMaxDb));
    parts << sqnr;
    return parts.join(QStringLiteral(" \u00b7 "));
}

} // namespace halftone::widgets
