#include "app/document_files.h"

#include "app/recoverable_session.h"
#include "app/settings.h"
#include "app/view_state.h"
#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/policy/policy_json.h"
#include "core/session/saved_results.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"

#include <QFile>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

namespace halftone::app {
namespace {

using session::Document;
using session::SessionFile;
using widgets::pathBytes;
using widgets::pathText;
using widgets::plain;

std::string bookmarksIn(const ViewTexts &view)
{
    return bookmarksText(viewStateOf(view).bookmarks);
}

/// Nothing for a file that cannot be read.
std::optional<std::uint64_t> hashOfFile(const QString &path)
{
    const auto file = MappedFile::open(pathBytes(path));
    return file.ok() ? std::optional(session::contentHash(std::span(&file.value(), 1))) : std::nullopt;
}

QString absoluteOf(const QString &path)
{
    return pathText(std::filesystem::absolute(pathBytes(path)).lexically_normal().string());
}

io::LoadOptions loadOptions(const std::string &params)
{
    io::LoadOptions options;
    options.params = params;
    return options;
}

} // namespace

struct DocumentFiles::Loaded
{
    std::unique_ptr<Document> document;
    QString sessionPath;
    std::optional<walks::ExampleOptions> data;
    std::map<std::string, std::string> view;
    QString journal; ///< that it was brought back from
    std::string results; ///< of a session whose model is the same still
    QString warning;
    std::optional<std::uint64_t> sessionHash;
    std::optional<std::uint64_t> modelHash; ///< as the session says them
    std::optional<std::uint64_t> externalHash;
    std::size_t steps = 0; ///< that were not saved, where no other journal holds them
    std::vector<std::string> lost; ///< what of the journal was not understood
    bool modified = false; ///< since it was saved, as what a journal brings back
    bool isReload = false; ///< of the model alone: what was saved stays so
};

DocumentFiles::DocumentFiles(widgets::DocumentController *controller, LiveJobs *jobs, QObject *parent)
    : QObject(parent)
    , m_controller(controller)
    , m_jobs(jobs)
{
    using widgets::DocumentController;
    connect(controller, &DocumentController::edited, this, &DocumentFiles::noteEdit);
    connect(controller, &DocumentController::undone, this, [this] { note(&session::Journal::undone); });
    connect(controller, &DocumentController::redone, this, [this] { note(&session::Journal::redone); });
    connect(jobs, &LiveJobs::dataChanged, this, &DocumentFiles::noteData);
}

DocumentFiles::~DocumentFiles()
{
    endJournal();
    endRecovered();
}

void DocumentFiles::open(const QString &path, const QString &params)
{
    const QString absolute = absoluteOf(path);
    if (!path.endsWith(u".halftone", Qt::CaseInsensitive)) {
        load(
            [absolute, params](const Progress &progress) -> Result<Loaded> {
                Loaded loaded;
                HALFTONE_TRY(loaded.document,
                             Document::open(pathBytes(absolute), loadOptions(pathBytes(params)), progress));
                return loaded;
            },
            absolute);
        return;
    }
    load(
        [absolute](const Progress &progress) -> Result<Loaded> {
            HALFTONE_TRY(const auto mapped, MappedFile::open(pathBytes(absolute)));
            HALFTONE_TRY(const SessionFile file, session::readSession(*mapped));
            Loaded loaded;
            loaded.sessionPath = absolute;
            loaded.sessionHash = session::contentHash(std::span(&mapped, 1));
            loaded.modelHash = file.modelHash;
            loaded.externalHash = file.externalHash;
            HALFTONE_TRY(loaded.document,
                         Document::open(file.modelPath, loadOptions(file.paramsPath), progress));
            HALFTONE_TRY(const bool isSame, session::isModelOf(file, loaded.document->session().source()));
            if (!isSame)
                loaded.warning = QObject::tr("The model has changed since this session was saved.");
            else if (file.modelHash)
                loaded.results = file.results;
            loaded.document->setHistory(file.history);
            loaded.data = file.data;
            loaded.view = file.view;
            return loaded;
        },
        absolute);
}

void DocumentFiles::openSample(const std::optional<Sample> &sample)
{
    if (!sample) {
        Q_EMIT openFailed(tr("the sample"), tr("The sample is missing from the installation."));
        return;
    }
    load(
        [sample = *sample](const Progress &progress) -> Result<Loaded> {
            Loaded loaded;
            HALFTONE_TRY(loaded.document, Document::open(pathBytes(sample.model), {}, progress));
            HALFTONE_TRY(const auto mapped, MappedFile::open(pathBytes(sample.policy)));
            HALFTONE_TRY(policy::Policy policy, policy::readPolicy(mapped->text()));
            policy.mode = policy::Mode::Typed;
            loaded.document->setHistory({{{policy, {}}}, 0});
            loaded.data.emplace();
            loaded.data->inputs = pathBytes(samplePath(QStringLiteral("digits-test.npz")));
            return loaded;
        },
        sample->model);
}

void DocumentFiles::recover(const QString &journalPath)
{
    load(
        [journalPath](const Progress &progress) -> Result<Loaded> {
            HALFTONE_TRY(const session::Journal::Head head, session::Journal::read(pathBytes(journalPath)));
            Loaded loaded;
            loaded.modified = true;
            loaded.journal = journalPath;
            loaded.sessionPath = pathText(head.sessionPath);
            loaded.sessionHash = head.sessionHash;
            loaded.lost = head.lost;
            if (!head.lost.empty())
                loaded.steps = std::max<std::size_t>(head.steps, 1); // of which other data may be one
            HALFTONE_TRY(loaded.document,
                         Document::open(head.state.modelPath, loadOptions(head.state.paramsPath), progress));
            loaded.document->setHistory(head.state.history);
            loaded.data = head.state.data;
            loaded.view = head.state.view;
            return loaded;
        },
        journalPath);
}

void DocumentFiles::reloadModel()
{
    const SessionFile now = state();
    load(
        [now, steps = m_steps](const Progress &progress) -> Result<Loaded> {
            Loaded loaded;
            loaded.isReload = true;
            loaded.steps = steps;
            HALFTONE_TRY(loaded.document,
                         Document::open(now.modelPath, loadOptions(now.paramsPath), progress));
            loaded.document->setHistory(now.history);
            loaded.data = now.data;
            loaded.view = now.view;
            return loaded;
        },
        m_modelPath);
}

void DocumentFiles::load(std::function<Result<Loaded>(const Progress &)> work, const QString &path)
{
    m_opening.start(
        [work = std::move(work)](std::stop_token stop) {
            return work({std::move(stop), {}});
        },
        [this, path](Result<Loaded> loaded) {
            Q_EMIT openingChanged();
            if (!loaded.ok())
                Q_EMIT openFailed(path, plain(loaded.error().message()));
            else
                show(std::move(loaded).value());
        });
    Q_EMIT openingChanged();
}

void DocumentFiles::show(Loaded loaded)
{
    if (!loaded.isReload) { // which goes on from the same work
        endJournal();
        endRecovered();
    }
    if (!loaded.journal.isEmpty()) {
        m_recovered = loaded.journal;
        m_recoveredLock = lockOf(loaded.journal);
    }
    m_modelPath = pathText(loaded.document->session().source().modelPath);
    m_awaitedData = loaded.data;
    m_steps = loaded.steps;
    if (!loaded.isReload) {
        m_sessionPath = loaded.sessionPath;
        m_sessionHash = loaded.sessionHash;
        m_modelHash = loaded.modelHash;
        m_externalHash = loaded.externalHash;
        m_savedPolicy = loaded.modified ? policy::Policy() : loaded.document->policy();
        m_savedData = loaded.modified ? std::nullopt : loaded.data;
        m_savedBookmarks = bookmarksIn(loaded.view);
    }
    m_controller->setDocument(std::move(loaded.document));
    m_jobs->setData(loaded.data);
    if (!loaded.results.empty()) {
        const auto restored = m_jobs->restore(loaded.results);
        if (!restored.ok())
            loaded.warning
                = tr("The results in this session cannot be read: %1").arg(plain(restored.error().message()));
    }
    SessionFile first = state();
    first.view = loaded.view; // which the window is yet to take on
    beginJournal(first);
    addRecentFile(m_sessionPath.isEmpty() ? m_modelPath : m_sessionPath);
    if (!loaded.warning.isEmpty())
        Q_EMIT warned(loaded.warning);
    Q_EMIT opened(loaded.view);
    if (!loaded.lost.empty())
        holdMemory(loaded.lost);
    Q_EMIT modifiedChanged();
}

/// The new journal holds what was understood; the old one, with the rest, is offered no more.
void DocumentFiles::holdMemory(const std::vector<std::string> &lost)
{
    const QString kept = m_journal ? moveJournalAway(m_recovered) : m_recovered;
    m_recovered.clear();
    m_recoveredLock.reset();
    Q_EMIT warned(
        tr("Recovered, except for parts that this version does not understand: %1. The journal is kept: %2")
            .arg(plain(joined(lost, 3)), widgets::shownPath(kept)));
}

void DocumentFiles::stopOpening()
{
    if (!isOpening())
        return;
    m_opening.cancel();
    Q_EMIT openingChanged();
}

void DocumentFiles::close()
{
    stopOpening();
    endJournal();
    endRecovered();
    m_sessionPath.clear();
    m_modelPath.clear();
    m_controller->setDocument(nullptr);
    Q_EMIT modifiedChanged();
}

SessionFile DocumentFiles::state() const
{
    SessionFile file;
    const Document &document = *m_controller->document();
    file.modelPath = document.session().source().modelPath;
    file.paramsPath = document.session().source().paramsPath;
    file.history = document.history();
    file.data = m_jobs->data() ? m_jobs->data() : m_awaitedData;
    if (viewState)
        file.view = viewState();
    return file;
}

Result<void> DocumentFiles::save(const QString &path)
{
    SessionFile file = state();
    putHashes(file);
    HALFTONE_TRY(m_sessionHash, session::writeSession(file, pathBytes(path)));
    file.results.clear(); // which a journal does not keep
    m_modelHash = file.modelHash;
    m_externalHash = file.externalHash;
    m_steps = 0;
    m_sessionPath = absoluteOf(path);
    m_savedPolicy = m_controller->document()->policy();
    m_savedData = m_awaitedData = file.data;
    m_savedBookmarks = bookmarksIn(file.view);
    beginJournal(file); // what came before lies in the session file
    endRecovered();
    addRecentFile(m_sessionPath);
    Q_EMIT modifiedChanged();
    return {};
}

/// Of what was read, and of figures that were computed from it. Where that has been written over, neither is to be had.
void DocumentFiles::putHashes(SessionFile &file) const
{
    if (session::putHashes(m_controller->document()->session().source(), file).ok()) {
        file.results = session::resultsText(*m_controller->snapshot(), m_controller->figures());
        return;
    }
    file.modelHash = m_modelHash;
    file.externalHash = m_externalHash;
}

bool DocumentFiles::isForeign(const QString &path) const
{
    std::error_code none;
    return absoluteOf(path) == m_sessionPath && std::filesystem::exists(pathBytes(path), none)
        && (!m_sessionHash || hashOfFile(path) != m_sessionHash);
}

Result<std::vector<session::SessionDifference>> DocumentFiles::differencesTo(const QString &path) const
{
    HALFTONE_TRY(const SessionFile there, session::readSession(pathBytes(path)));
    SessionFile here = state();
    putHashes(here);
    return session::differencesOf(there, here);
}

QString DocumentFiles::name() const
{
    return widgets::shownName(m_sessionPath.isEmpty() ? m_modelPath : m_sessionPath);
}

bool DocumentFiles::isModified() const
{
    if (!m_controller->isOpen())
        return false;
    const auto inputsOf = [](const auto &data) { return data ? data->inputs : std::string(); };
    return m_controller->document()->policy() != m_savedPolicy
        || (m_jobs->data() && inputsOf(m_jobs->data()) != inputsOf(m_savedData))
        || (viewState && bookmarksIn(viewState()) != m_savedBookmarks);
}

/// The new one is there before the old one goes: at no moment is there none.
void DocumentFiles::beginJournal(const SessionFile &state)
{
    const QString path = newJournal();
    auto lock = lockOf(path);
    session::Journal::Head head;
    head.state = state;
    head.sessionPath = pathBytes(m_sessionPath);
    head.sessionHash = m_sessionHash;
    head.steps = m_steps;
    auto journal = session::Journal::create(pathBytes(path), head);
    endJournal();
    if (!journal.ok()) {
        journalFailed(journal.error());
        return;
    }
    m_journal = std::move(journal).value();
    m_journalPath = path;
    m_notedView = state.view;
    m_journalLock = std::move(lock);
}

void DocumentFiles::endJournal()
{
    if (!m_journal)
        return;
    m_journal.reset();
    QFile::remove(m_journalPath);
    m_journalLock.reset();
}

void DocumentFiles::endRecovered()
{
    if (m_recovered.isEmpty())
        return;
    QFile::remove(m_recovered);
    m_recovered.clear();
    m_recoveredLock.reset();
}

void DocumentFiles::note(Result<void> (session::Journal::*step)())
{
    ++m_steps;
    if (m_journal) {
        const auto noted = (*m_journal.*step)();
        if (!noted.ok())
            journalFailed(noted.error());
    }
    Q_EMIT modifiedChanged();
}

void DocumentFiles::noteEdit()
{
    ++m_steps;
    if (m_journal) {
        const Document &document = *m_controller->document();
        const auto noted = m_journal->edited({document.policy(), document.undoText()});
        if (!noted.ok())
            journalFailed(noted.error());
    }
    Q_EMIT modifiedChanged();
}

void DocumentFiles::noteData()
{
    if (m_journal && m_jobs->data()) {
        const auto noted = m_journal->dataAttached(*m_jobs->data());
        if (!noted.ok())
            journalFailed(noted.error());
    }
    Q_EMIT modifiedChanged();
}

void DocumentFiles::noteView()
{
    if (!m_journal || !viewState)
        return;
    auto view = viewState();
    if (view == m_notedView)
        return;
    const auto noted = m_journal->viewChanged(view);
    m_notedView = std::move(view);
    if (!noted.ok())
        journalFailed(noted.error());
    Q_EMIT modifiedChanged();
}

void DocumentFiles::journalFailed(const Error &error)
{
    m_journal.reset();
    Q_EMIT warned(tr("Edits can no longer be recovered after a crash: %1").arg(plain(error.message())));
}

} // namespace halftone::app
