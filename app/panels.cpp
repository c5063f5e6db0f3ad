#include "app/panels.h"

#include "app/message_log.h"
#include "widgets/calibration/calibration_panel.h"
#include "widgets/inspector/inspector_panel.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/plots/block_map.h"
#include "widgets/plots/calibration_plot.h"
#include "widgets/plots/error_plot.h"
#include "widgets/plots/latency_plot.h"
#include "widgets/plots/tune_plot.h"
#include "widgets/tables/layers_table.h"
#include "widgets/tune/tune_panel.h"

namespace halftone::app {
namespace {

template <class Widget>
QWidget *make(const PanelParts &parts)
{
    return new Widget(parts.controller);
}

template <class Widget, int kCharacters>
QWidget *makeWide(const PanelParts &parts)
{
    auto *const panel = new Widget(parts.controller);
    panel->setMinimumWidth(kCharacters * panel->fontMetrics().averageCharWidth());
    return panel;
}

QWidget *makeCalibration(const PanelParts &parts)
{
    return new widgets::CalibrationPanel(parts.controller, parts.thresholds,
                                         new widgets::CalibrationPlot(parts.controller, parts.thresholds));
}

QWidget *makeTune(const PanelParts &parts)
{
    return new widgets::TunePanel(parts.controller, parts.tune,
                                  new widgets::TunePlot(parts.controller, parts.tune));
}

QWidget *makeMessages(const PanelParts &)
{
    return new MessageLog;
}

// Characters that are the least to work with; both are shown wider at first.
constexpr int kNames = 28;
constexpr int kFigures = 24;

} // namespace

std::vector<Panel> allPanels()
{
    const auto tr = [](const char *title) { return QObject::tr(title); };
    return {
        {QStringLiteral("lists"), tr("Lists"), Qt::CTRL | Qt::SHIFT | Qt::Key_L, Qt::LeftDockWidgetArea,
         makeWide<widgets::OpListsPanel, kNames>},
        {QStringLiteral("inspector"), tr("Inspector"), Qt::CTRL | Qt::Key_I, Qt::RightDockWidgetArea,
         makeWide<widgets::InspectorPanel, kFigures>},
        {QStringLiteral("layers"), tr("Layers"), Qt::CTRL | Qt::Key_L, Qt::BottomDockWidgetArea,
         make<widgets::LayersTable>},
        {QStringLiteral("error"), tr("Error"), Qt::CTRL | Qt::Key_R, Qt::BottomDockWidgetArea,
         make<widgets::ErrorPlot>, true},
        {QStringLiteral("blocks"), tr("Blocks"), Qt::CTRL | Qt::Key_H, Qt::BottomDockWidgetArea,
         make<widgets::BlockMap>, true},
        {QStringLiteral("latency"), tr("Latency"), Qt::CTRL | Qt::Key_T, Qt::BottomDockWidgetArea,
         make<widgets::LatencyPlot>, true},
        {QStringLiteral("calibration"), tr("Calibration"), Qt::CTRL | Qt::Key_K, Qt::BottomDockWidgetArea,
         makeCalibration, true},
        {QStringLiteral("tune"), tr("Tune"), Qt::CTRL | Qt::Key_U, Qt::BottomDockWidgetArea, makeTune, true},
        {QStringLiteral("messages"), tr("Messages"), Qt::CTRL | Qt::Key_M, Qt::BottomDockWidgetArea,
         makeMessages},
    };
}

} // namespace halftone::app
