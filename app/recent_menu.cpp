#include "app/recent_menu.h"

#include "app/settings.h"
#include "widgets/common/path_text.h"

namespace halftone::app {

RecentMenu::RecentMenu(const QString &title, QWidget *parent)
    : QMenu(title, parent)
{
    setToolTipsVisible(true); // names may be alike
    fill();
}

void RecentMenu::fill()
{
    clear();
    const QStringList files = recentFiles();
    for (int i = 0; i < files.size(); ++i) {
        const QString &path = files[i];
        QAction *const action = addAction(widgets::shownName(path));
        action->setShortcut(QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_1 + i)));
        action->setToolTip(widgets::shownPath(path));
        connect(action, &QAction::triggered, this, [this, path] { choose(path); });
    }
    setEnabled(!files.isEmpty());
}

void RecentMenu::choose(const QString &path)
{
    if (widgets::pathExists(path)) {
        Q_EMIT fileRequested(path);
        return;
    }
    removeRecentFile(path);
    Q_EMIT fileGone(path);
}

} // namespace halftone::app
