#pragma once

#include "core/session/source_state.h"
#include "widgets/common/latest_job.h"

#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QTimer>

#include <memory>

namespace halftone::app {

/// Watches the files that the open model was read from, beside the window's thread: the file system tells of changes, and where it
/// does not, it is asked every two seconds.
class SourceWatch : public QObject
{
    Q_OBJECT

public:
    explicit SourceWatch(QObject *parent = nullptr);

    /// Null: nothing is open.
    void watch(std::shared_ptr<const io::LoadedModel> source);
    /// What was read stays, whatever lies there: nothing is told any more unless it is lost.
    void keep();

    const session::SourceState &state() const { return m_state; }
    /// Whether whoever reads the files now gets something else, kept or not.
    bool differs() const { return m_differs; }

Q_SIGNALS:
    void changed(); ///< state() or differs() is another one

private:
    void look();
    void watchFiles();
    void take(session::SourceState state);

    std::shared_ptr<const io::LoadedModel> m_source;
    session::SourceState m_state;
    bool m_differs = false;
    bool m_isKept = false;
    bool m_lookAgain = false; ///< something happened while it was being looked
    QFileSystemWatcher m_watcher;
    QTimer m_timer;
    QTimer m_soon; ///< once what is happening in the folder has gone by
    widgets::LatestJob m_looking;
};

} // namespace halftone::app
