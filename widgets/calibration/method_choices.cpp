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
        return tr("Uses the largest magnitude: nothing is clipped");
    case ThresholdMethod::Entropy:
        return tr("Minimises the Kullback\u2013Leibler divergence, as MXNet does");
    case ThresholdMethod::Percentile:
        return tr("Keeps 99.99 % of the magnitudes and clips the rest");
    case ThresholdMethod::Mse:
        return tr("Minimises the squared error: never worse than minmax");
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
