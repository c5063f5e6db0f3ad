#pragma once

#include "widgets/models/tune_state.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSlider;
class QTableView;

namespace halftone::widgets {

class DifferingGroups;
class ElidedLabel;
class GroupTable;
class NumberField;

/// The search for the layers that must stay wide: begin, stop and go on, the limit, the plane of points, and the groups with what each
/// gains and costs.
class TunePanel : public QWidget
{
    Q_OBJECT

public:
    /// plot  what draws the plane from the same state; the panel takes it
    TunePanel(DocumentController *controller, TuneState *state, QWidget *plot, QWidget *parent = nullptr);

    TuneState *state() const { return m_state; }
    QWidget *plot() const { return m_plot; }
    QTableView *groups() const { return m_view; }
    QTableView *comparison() const
    {
        return m_compared;
    } ///< of the two selected points, side by side; hidden while fewer are

private:
    QWidget *makeBar();
    QWidget *makeLimit(QWidget *bar);
    QWidget *makeAxes(QWidget *bar);
    QTableView *makeComparison();
    void refreshAxes();
    void refreshSummary();
    void refreshSums();
    QWidget *makeGroups();
    void changeMetric();
    void takeLimit();
    void refresh();
    void showGroup(const QModelIndex &index);
    void pinSelected();

    DocumentController *m_controller;
    TuneState *m_state;
    QWidget *m_plot;
    QPushButton *m_run = nullptr;
    QPushButton *m_again = nullptr;
    QPushButton *m_adopt = nullptr;
    QPushButton *m_pin = nullptr;
    QCheckBox *m_int8 = nullptr;
    QComboBox *m_metric = nullptr;
    NumberField *m_value = nullptr;
    QSlider *m_slider = nullptr;
    QComboBox *m_time = nullptr;
    QComboBox *m_loss = nullptr;
    QLabel *m_told = nullptr;
    QTableView *m_compared = nullptr;
    QCheckBox *m_differing = nullptr;
    ElidedLabel *m_sums = nullptr;
    QTableView *m_view = nullptr;
    GroupTable *m_table = nullptr;
    DifferingGroups *m_sorted = nullptr;
};

} // namespace halftone::widgets
