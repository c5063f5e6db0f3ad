#pragma once

#include <QKeySequence>
#include <QString>

#include <vector>

class QWidget;

namespace halftone::widgets {
class DocumentController;
class ThresholdEditor;
class TuneState;
} // namespace halftone::widgets

namespace halftone::app {

/// What panels are made of.
struct PanelParts
{
    widgets::DocumentController *controller;
    widgets::ThresholdEditor *thresholds;
    widgets::TuneState *tune;
};

/// A panel of the window.
struct Panel
{
    QString name; ///< of its dock in saved layouts, and after --view
    QString title;
    QKeySequence key; ///< shows and hides it
    Qt::DockWidgetArea area; ///< where it lies at first; those of one area lie one behind the other
    QWidget *(*make)(const PanelParts &);
    bool isDrawing = false; ///< curves need more height than rows
};

/// All of them, in the order of the View menu.
std::vector<Panel> allPanels();

} // namespace halftone::app
