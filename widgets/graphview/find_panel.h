#pragma once

#include "widgets/common/document_controller.h"

#include <QWidget>

#include <optional>
#include <vector>

class QLabel;
class QLineEdit;
class QListView;
class QStandardItemModel;
class QToolButton;

namespace halftone::widgets {

/// Finds nodes by what is typed, while it is typed. Several or all of them can be selected, dragged and moved together.
class FindPanel : public QWidget
{
    Q_OBJECT

public:
    explicit FindPanel(DocumentController *controller, QWidget *parent = nullptr);

    void open(); ///< shows it, the text selected
    const std::vector<graph::NodeId> &found() const { return m_found; }
    /// Goes round. Nothing when nothing is found.
    std::optional<graph::NodeId> next(bool backward);
    void refresh(); ///< another snapshot or other figures
    void forget(); ///< another model: what was found are nodes of the one before

Q_SIGNALS:
    void foundChanged();
    /// By a click or a key: select them. current: among them
    void nodesChosen(const std::vector<halftone::graph::NodeId> &nodes, halftone::graph::NodeId current);
    void dragWanted(); ///< of the nodes chosen last
    void menuWanted(const QPoint &globalPos); ///< for the nodes chosen last
    void nodeActivated(halftone::graph::NodeId node); ///< by two, or Return: show it
    void closed();

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void build();
    void search();
    void fillRows();
    void choose();
    void chooseAll();
    void showOutcome();
    QString countText() const;

    DocumentController *m_controller;
    QLineEdit *m_text;
    QLabel *m_count;
    QToolButton *m_all; ///< selects all that is found
    QListView *m_list;
    QStandardItemModel *m_model;
    std::vector<graph::NodeId> m_found;
    QString m_said; ///< what is wrong with the query, or what it asks for and no node has
    int m_at = -1; ///< in m_found
    std::size_t m_chosen = 0; ///< rows that are selected
    bool m_isFilling = false; ///< what is selected in the list was not chosen by a person
};

} // namespace halftone::widgets
