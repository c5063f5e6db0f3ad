#pragma once

#include "core/calibration/calibrated.h"
#include "widgets/common/document_controller.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QSplitter;
class QStackedLayout;
class QTableView;

namespace halftone::widgets {

class FreeWidth;
class TensorDelegate;
class TensorProxy;
class TensorTableModel;
class ThresholdBar;
class ThresholdEditor;

/// The calibrated tensors by risk, the threshold of the one shown, and what it costs. Every choice is one edit of the policy.
class CalibrationPanel : public QWidget
{
    Q_OBJECT

public:
    /// plots  what draws the tensor shown, from the same editor; the panel takes it
    CalibrationPanel(DocumentController *controller, ThresholdEditor *editor, QWidget *plots,
                     QWidget *parent = nullptr);

    QTableView *view() const { return m_view; }
    TensorTableModel *model() const { return m_model; }
    TensorProxy *proxy() const { return m_proxy; }
    QWidget *plots() const { return m_plots; }
    ThresholdBar *bar() const { return m_bar; }

    /// Are there data whose ranges are collected, or will be? An empty panel says so.
    void setDataAttached(bool attached);

    QString emptyText() const; ///< why there is no table; empty when there is one
    QString csv() const; ///< the rows as shown, RFC 4180, numbers with all their digits

    bool eventFilter(QObject *watched, QEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

public Q_SLOTS:
    void setFilterText(const QString &text);
    void exportCsv(); ///< asks where to

private:
    QWidget *buildTable();
    void connectAll();
    void takeCalibration();
    void showEmptyText();
    QString chosenText() const;
    void takeChosen();
    void fitRisks();
    void showCount();
    void showRow();
    void chooseRow(const QModelIndex &index);
    void hoverTensor(const calibration::CalibratedTensor *tensor);
    void showHovered();

    DocumentController *m_controller;
    ThresholdEditor *m_editor;
    QWidget *m_plots;
    ThresholdBar *m_bar;
    TensorTableModel *m_model;
    TensorProxy *m_proxy;
    QSplitter *m_splitter = nullptr;
    QStackedLayout *m_stack = nullptr;
    QLabel *m_empty = nullptr;
    QTableView *m_view = nullptr;
    TensorDelegate *m_delegate = nullptr;
    FreeWidth *m_freeWidth = nullptr;
    QLineEdit *m_filter = nullptr;
    QLabel *m_count = nullptr;
    QComboBox *m_methodOfAll = nullptr;
    int m_riskWidth = 0; ///< of their column, as what is at risk asks for
    bool m_hasData = false;
    bool m_isSyncing = false; ///< one side of the selection is following the other
};

} // namespace halftone::widgets
