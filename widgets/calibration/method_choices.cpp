#include "widgets/calibration/method_choices.h"

#include "widgets/models/threshold_words.h"

#include <QComboBox>
#include <QCoreApplication>

namespace halftone::widgets {
namespace {

using policy::ThresholdMethod;

QString tr(const char *text)
{
    return QCoreApplication::translate("Thresholds", text);
}

QString methodHelp(ThresholdMethod method)
{
    switch (method) {
    case ThresholdMethod::MinMax:
        return tr("The largest magnitude: nothing is clipped");
    case ThresholdMethod::Entropy:
        return tr("Least Kullback\u2013Leibler divergence, as MXNet finds it");
    case ThresholdMethod::Percentile:
        return tr("99.99 % of the magnitudes are kept");
    case ThresholdMethod::Mse:
        return tr("Least square error: never worse than minmax");
    }
    return {};
}

} // namespace

void addMethods(QComboBox &box)
{
    for (const ThresholdMethod method : kThresholdMethods) {
        box.addItem(methodText(method));
        box.setItemData(box.count() - 1, methodHelp(method), Qt::ToolTipRole);
    }
}

} // namespace halftone::widgets
