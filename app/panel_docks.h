#pragma once

#include "app/panels.h"

#include <QDockWidget>
#include <QObject>

#include <vector>

class QAction;
class QMainWindow;
class QMenu;

namespace halftone::app {

/// The docks of all panels: where they lie, and which are shown. Hidden while nothing is open, since they would be empty.
class PanelDocks : public QObject
{
    Q_OBJECT

public:
    PanelDocks(QMainWindow *window, const PanelParts &parts);
    ~PanelDocks() override; ///< takes the panels with it

    /// The panel of a kind; there is one of each.
    template <class Widget>
    Widget *panel() const
    {
        for (const Entry &entry : m_entries)
            if (auto *const found = qobject_cast<Widget *>(entry.dock->widget()))
                return found;
        return nullptr;
    }

    void addActions(QMenu *menu); ///< with each panel's key
    void setOpen(bool isOpen); ///< is there a model to show?
    /// false: there is no panel of this name.
    bool bringToFront(const QString &name);
    void resetLayout();
    /// The first one for what is no layout. hasShownDrawing: as of an earlier start
    void restoreLayout(const QByteArray &layout, bool hasShownDrawing);
    QByteArray layout() const;
    bool hasShownDrawing() const { return !m_isLow; } ///< so that its height is a person's
    void windowShown(); ///< sizes given before the window has its own are lost

Q_SIGNALS:
    void panelShown(const QString &name); ///< a page that comes to the front, too

private:
    struct Entry
    {
        Panel panel;
        QDockWidget *dock = nullptr;
        QAction *action = nullptr;
        int leastWidth = 0; ///< of the panel
    };

    void arrange();
    int widthAtSide(int characters) const;
    void sizeDocks();
    void raiseBottom(); ///< for a drawing that comes to the front, once
    void widen(); ///< the panels at the sides, which are shown with room to spare at first
    void showOrHide(QDockWidget *dock);
    QDockWidget *firstIn(Qt::DockWidgetArea area) const;

    QMainWindow *m_window;
    std::vector<Entry> m_entries;
    QByteArray m_firstLayout;
    QByteArray m_openLayout; ///< as it was when the docks were hidden
    bool m_isOpen = true;
    bool m_isLow = false; ///< the bottom area: nobody has seen a drawing in it
    bool m_sizesDocks = false; ///< once there is a window with its real size: no layout was saved
};

} // namespace halftone::app
