#pragma once

#include "app/bookmark.h"

#include <QMenu>

#include <vector>

class QDialog;

namespace halftone::widgets {
class GraphView;
}

namespace halftone::app {

/// The bookmarks of a document's graph: one is added, gone to, given another name or removed.
class BookmarksMenu : public QMenu
{
    Q_OBJECT

public:
    BookmarksMenu(widgets::GraphView *graph, QWidget *parent);

    const std::vector<Bookmark> &bookmarks() const { return m_bookmarks; }
    void setBookmarks(std::vector<Bookmark> bookmarks);
    void setDocumentOpen(bool isOpen);

    /// Of what is seen now. A name that is taken goes to the new one.
    void add(const QString &name);
    void goTo(std::size_t index);
    /// An empty name changes nothing.
    void rename(std::size_t index, const QString &name);
    void remove(std::size_t index);

    void askAndAdd();
    void edit(); ///< all of them in a dialog

Q_SIGNALS:
    void changed();

private:
    void refresh();
    QString freeName() const;

    widgets::GraphView *m_graph;
    std::vector<Bookmark> m_bookmarks;
    QAction *m_add;
    QAction *m_edit;
    std::vector<QAction *> m_going;
    bool m_isDocumentOpen = false;
};

} // namespace halftone::app
