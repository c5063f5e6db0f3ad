#pragma once

#include <functional>
#include <vector>

class QMainWindow;
class QWidget;

namespace halftone::app {

/// The way of the keyboard through a window: tool bar, middle, docks from the left, the tabs over a row of pages, status bar,
/// round and round.
class FocusWalk
{
public:
    /// centreFocus  what takes the focus in the middle; null: the first there
    FocusWalk(QMainWindow *window, std::function<QWidget *()> centreFocus);

    bool goToNext(bool next); ///< as Tab. false: there is nowhere to go
    /// To the tool bar, the middle, or the next panel: to what a panel is about, else to the first in it.
    void goToPane(bool next);

private:
    std::vector<QWidget *> stops() const;
    int rankOf(const QWidget *widget) const;

    QMainWindow *m_window;
    std::function<QWidget *()> m_centreFocus;
};

} // namespace halftone::app
