#pragma once

#include "widgets/common/document_controller.h"
#include "widgets/common/edit_effects.h"
#include "widgets/models/op_list_model.h"

#include <QWidget>

class QAction;
class QCheckBox;
class QComboBox;
class QLineEdit;
class QMenu;
class QToolButton;

namespace halftone::dialect {
class Dialect;
}

namespace halftone::widgets {

class OpListView;
class PolicyCommands;
class TextBlock;

/// The operator lists: which precision each operator is asked to compute in, and everything that changes it. Drag, keys
/// (T F W C X, Del) and menus do the same edits.
class OpListsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit OpListsPanel(DocumentController *controller, QWidget *parent = nullptr);

    OpListView *view() const { return m_view; }
    OpListModel *model() const { return m_model; }
    PolicyCommands *commands() const { return m_commands; } ///< what is done to the lists as a whole
    /// What the line below the lists says: the consequence of the move that is being thought of.
    QString message() const;

    /// Moves as a drop does; asks with a menu at `place` (global) when the move may mean two things.
    void move(const ListPayload &payload, ListId to, const QPoint &place);
    /// "Move to" for nodes or operators chosen elsewhere, such as in the graph: a submenu with the consequences.
    QMenu *moveMenu(const ListPayload &payload, QWidget *parent);
    /// "Move Its Block To" for a node that is part of one; null for all else.
    QMenu *unitMenu(const ListPayload &payload, QWidget *parent);
    /// Gives `view` (the graph, the layers) the keys of the lists, for the nodes that are chosen.
    void addKeysTo(QWidget *view);
    void setConstantsShown(bool areShown); ///< operators that compute nothing; at first they have no row

private:
    void build();
    QWidget *makeListRow();
    QMenu *makeMoreMenu();
    void addKeys();
    void refresh();
    std::vector<std::string> selectedNames() const;
    void selectAgain(const std::vector<std::string> &names);
    void refreshFilter();
    void showChoices();
    void fillVersions(const dialect::Dialect &dialect);
    void showMessage(const QString &text);
    void showHint();
    QString refusalOf(const ListMove &move, ListId to) const;
    void previewEdits(const std::vector<policy::Edit> &edits, const QStringList &subjects, bool isAtPointer);
    void preview(const ListPayload &payload, ListId to);
    void moveSelected(ListId to);
    void moveChosenNodes(ListId to, const QPoint &place);
    void refuse(const QString &why);
    void removeSelected();
    void editConditions(const std::string &op);
    void showContextMenu(const QPoint &place);
    void activate(const QModelIndex &index);
    void apply(const policy::Edit &edit);
    session::Snapshot newest() const;

    DocumentController *m_controller;
    OpListModel *m_model;
    OpListView *m_view;
    QLineEdit *m_filter;
    QComboBox *m_version;
    const dialect::Dialect *m_versionsOf = nullptr; ///< whose lists m_version offers
    QCheckBox *m_every;
    TextBlock *m_message;
    QToolButton *m_more;
    PolicyCommands *m_commands;
    EditEffects m_effects;
    std::vector<QAction *> m_documentActions; ///< that need an open model
};

} // namespace halftone::widgets
