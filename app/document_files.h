#pragma once

#include "app/live_jobs.h"
#include "app/settings.h"
#include "core/session/journal.h"
#include "core/session/session_difference.h"
#include "widgets/common/document_controller.h"
#include "widgets/common/latest_job.h"

#include <QLockFile>
#include <QObject>
#include <QString>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::app {

/// Opening, saving, and the journal that makes unsaved edits outlive a crash.
class DocumentFiles : public QObject
{
    Q_OBJECT

public:
    DocumentFiles(widgets::DocumentController *controller, LiveJobs *jobs, QObject *parent = nullptr);
    ~DocumentFiles() override;

    /// A model or a session file, in the background; what is open stays until it has been read: opened() or openFailed().
    /// params  as io::LoadOptions::params
    void open(const QString &path, const QString &params = {});
    /// The bundled model with its data and everything in float16, so that there is something to mend.
    void openSample(const std::optional<Sample> &sample); ///< absent: there is none
    /// Goes on from a journal that a killed program left; it is kept until what it brought back is saved or given up, and for good
    /// where some of it could not be understood.
    void recover(const QString &journalPath);
    /// The model as its files are now, with the lists, their history, the data and the view as they are.
    void reloadModel();
    void close();
    /// What is being opened is given up, and what was open stays.
    void stopOpening();

    /// Also where the model's files are gone, or are others by now: the session says what was read. fails: what cannot be written.
    Result<void> save(const QString &path);
    /// Whether somebody else has written to the session file since it was opened or saved here.
    bool isForeign(const QString &path) const;
    /// What the session file says otherwise than the document. fails: as session::readSession()
    Result<std::vector<session::SessionDifference>> differencesTo(const QString &path) const;
    const QString &sessionPath() const { return m_sessionPath; } ///< empty: never saved
    QString name() const; ///< of the session or the model, without its folder, to be shown
    bool isModified() const;
    bool isOpening() const { return m_opening.isRunning(); }

    /// What the window wants kept in the session file.
    std::function<std::map<std::string, std::string>()> viewState;
    /// What viewState() gives may have changed: it is kept against a crash too.
    void noteView();

Q_SIGNALS:
    void opened(const std::map<std::string, std::string> &viewState);
    void openFailed(const QString &path, const QString &why);
    void openingChanged();
    void modifiedChanged();
    void warned(const QString &text);

private:
    struct Loaded;

    void load(std::function<Result<Loaded>(const Progress &)> work, const QString &path);
    void show(Loaded loaded);
    session::SessionFile state() const;
    void putHashes(session::SessionFile &file) const;
    void holdMemory(const std::vector<std::string> &lost);
    void beginJournal(const session::SessionFile &state);
    void endJournal();
    void endRecovered();
    void note(Result<void> (session::Journal::*step)());
    void noteEdit();
    void noteData();
    void journalFailed(const Error &error);

    widgets::DocumentController *m_controller;
    LiveJobs *m_jobs;
    QString m_sessionPath;
    QString m_modelPath;
    policy::Policy m_savedPolicy;
    std::optional<walks::ExampleOptions> m_savedData;
    std::string m_savedBookmarks; ///< as the view keeps them
    std::optional<std::uint64_t>
        m_sessionHash; ///< of the session file as it was read or written here; nothing: not known
    std::optional<std::uint64_t> m_modelHash; ///< the last ones known
    std::optional<std::uint64_t> m_externalHash;
    std::size_t m_steps = 0; ///< that were not saved
    std::optional<walks::ExampleOptions> m_awaitedData; ///< of the document, while they are being read
    std::optional<session::Journal> m_journal;
    QString m_journalPath;
    QString
        m_recovered; ///< the journal that the document was brought back from, which holds more than m_journal
    std::unique_ptr<QLockFile> m_recoveredLock;
    std::map<std::string, std::string> m_notedView;
    std::unique_ptr<QLockFile> m_journalLock;
    widgets::LatestJob m_opening;
};

} // namespace halftone::app
