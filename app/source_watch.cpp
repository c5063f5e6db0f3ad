#include "app/source_watch.h"

#include "widgets/common/path_text.h"

#include <QFileInfo>

#include <utility>

namespace halftone::app {
namespace {

constexpr int kLookMs = 2000; ///< where no notices come: on network drives
constexpr int kSoonMs = 100;

} // namespace

SourceWatch::SourceWatch(QObject *parent)
    : QObject(parent)
{
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, &SourceWatch::look);
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &SourceWatch::look);
    const auto lookSoon = [this] {
        if (m_source && !m_soon.isActive())
            m_soon.start();
    };
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, lookSoon);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, lookSoon);
}

void SourceWatch::watch(std::shared_ptr<const io::LoadedModel> source)
{
    m_looking.cancel();
    m_source = std::move(source);
    m_isKept = m_lookAgain = false;
    if (const QStringList watched = m_watcher.files() + m_watcher.directories(); !watched.isEmpty())
        m_watcher.removePaths(watched);
    take({});
    if (!m_source) {
        m_timer.stop();
        return;
    }
    watchFiles();
    m_timer.start();
    look(); // it may have changed while it was read
}

/// The files, for what is written to them, and their folders, for what takes their place.
void SourceWatch::watchFiles()
{
    for (const auto &file : m_source->files) {
        const QFileInfo info(widgets::pathText(file->path()));
        for (const QString &path : {info.filePath(), info.absolutePath()})
            m_watcher.addPath(path);
    }
}

void SourceWatch::keep()
{
    m_isKept = true;
    take(session::SourceState(m_state));
}

void SourceWatch::look()
{
    if (!m_source)
        return;
    if (m_looking.isRunning()) {
        m_lookAgain = true;
        return;
    }
    m_looking.start([source = m_source](const std::stop_token &) { return session::sourceState(*source); },
                    [this](session::SourceState state) {
                        take(std::move(state));
                        watchFiles(); // of one that was replaced the watcher has let go
                        if (std::exchange(m_lookAgain, false))
                            look();
                    });
}

void SourceWatch::take(session::SourceState state)
{
    using Kind = session::SourceState::Kind;
    const bool differs = state.kind != Kind::AsRead;
    if (m_isKept && state.kind == Kind::Changed)
        state = {};
    if (state == m_state && differs == m_differs)
        return;
    m_differs = differs;
    m_state = std::move(state);
    Q_EMIT changed();
}

} // namespace halftone::app
