#pragma once

#include <QMenu>

namespace halftone::app {

/// The files opened last. One that is gone is taken off the list when it is asked for.
class RecentMenu : public QMenu
{
    Q_OBJECT

public:
    explicit RecentMenu(const QString &title, QWidget *parent = nullptr);

    void fill(); ///< anew, before it is shown

Q_SIGNALS:
    void fileRequested(const QString &path);
    void fileGone(const QString &path);

private:
    void choose(const QString &path);
};

} // namespace halftone::app
