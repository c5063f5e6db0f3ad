#pragma once

#include "widgets/common/document_controller.h"
#include "widgets/models/layer_filter_proxy.h"
#include "widgets/models/layer_table_model.h"

#include <QWidget>

class QAction;
class QLabel;
class QLineEdit;
class QStackedLayout;
class QMenu;
class QTableView;
class QToolButton;

namespace halftone::widgets {

class FreeWidth;
class LayerDelegate;
class WhileSeen;

/// Every layer with its figures: sorted, filtered, copied, exported, and held against a pinned state. While nobody can see it, it takes
/// new figures only when somebody asks for them.
class LayersTable : public QWidget
{
    Q_OBJECT

public:
    explicit LayersTable(DocumentController *controller, QWidget *parent = nullptr);

    QTableView *view() const;
    LayerTableModel *model() const;
    LayerFilterProxy *proxy() const;

    /// The rows as shown and all columns, RFC 4180, numbers with all their digits.
    QString csv() const;
    /// The chosen rows (all, if none is chosen) and the columns that are shown, separated by tabs.
    QString tsv() const;

public Q_SLOTS:
    void setConstantsShown(bool areShown); ///< as rows; at first they are not
    void setFilterText(const QString &text);
    void pinBaseline(bool on);
    void copy();
    void exportCsv(); ///< asks where to

Q_SIGNALS:
    /// The menu of the selected rows is about to be shown: others may add what they can do with the selection.
    void rowMenuMade(QMenu *menu);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void build();
    void showHovered();
    void takeDocument();
    void takeFigures();
    void refreshFilter();
    void showCount();
    void chooseInSelection();
    void showSelection();
    QMenu *makeColumnMenu(QWidget *parent);
    void setBaselineColumns(bool shown);
    void setBackendColumns(bool shown);

    DocumentController *m_controller;
    WhileSeen *m_seen; ///< takes figures
    LayerTableModel *m_model;
    LayerFilterProxy *m_proxy;
    QTableView *m_view;
    LayerDelegate *m_delegate;
    FreeWidth *m_freeWidth = nullptr;
    QLineEdit *m_filter;
    QLabel *m_count;
    QLabel *m_said; ///< what is wrong with the filter, or what it asks for and no layer has
    QLabel *m_empty; ///< words in place of a table without rows
    QStackedLayout *m_stack;
    QToolButton *m_pin;
    QString m_error; ///< of the filter; empty: none
    bool m_hadRuntime = false;
    bool m_hadBackends = false; ///< columns of two backends were shown for them
    bool m_isSyncing = false; ///< one side of the selection is following the other
};

} // namespace halftone::widgets
