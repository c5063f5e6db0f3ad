#include "app/recent_menu.h"

#include "app/settings.h"

#include <QFileInfo>

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
        const QString path = files[i];
        QAction *const action = addAction(QFileInfo(path).fileName());
        action->setShortcut(QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_1 + i)));
        action->setToolTip(path);
        connect(action, &QAction::triggered, this, [this, path] { choose(path); });
    }
    setEnabled(!files.isEmpty());
}

void RecentMenu::choose(const QString &path)
{
    if (QFileInfo::exists(path)) {
        Q_EMIT fileRequested(path);
        return;
    }
    removeRecentFile(path);
    Q_EMIT fileGone(path);
}

} // namespace halftone::app
