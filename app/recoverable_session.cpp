#include "app/recoverable_session.h"

#include "app/drawn_inputs.h"
#include "app/settings.h"
#include "core/base/text.h"
#include "core/session/journal.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QUuid>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace halftone::app {
namespace {

using widgets::pathText;
using widgets::plain;

const QString kJournalEnding = QStringLiteral(".journal");
const QString kLockEnding = QStringLiteral(".lock");

QString leftText(const char *text)
{
    return QCoreApplication::translate("RecoverableSession", text);
}

QString workOf(const session::Journal::Head &head)
{
    QString edits = head.steps == 1 ? leftText("1 edit")
        : head.steps > 1            ? leftText("%1 edits").arg(head.steps)
                                    : QString();
    if (!head.hasOtherData)
        return edits;
    const QString data = areDrawn(head.state.data)
        ? leftText("random inputs")
        : leftText("%1 attached").arg(widgets::shownName(pathText(head.state.data->inputs)));
    return edits.isEmpty() ? data : edits + QStringLiteral(", ") + data;
}

/// Nothing for what holds neither an edit nor data, nor anything that is not understood.
std::optional<RecoverableSession> readRecoverableSession(const QString &journal)
{
    const auto head = session::Journal::read(journal.toStdString());
    if (!head.ok() && QFileInfo(journal).size() == 0)
        return std::nullopt;
    if (!head.ok())
        return RecoverableSession{journal, {}, plain(head.error().message()), false};
    const session::Journal::Head &found = head.value();
    const QString model = pathText(found.state.modelPath);
    if (found.steps == 0 && !found.hasOtherData) {
        if (found.lost.empty())
            return std::nullopt;
        return RecoverableSession{
            journal, model, leftText("%1: %2").arg(widgets::shownPath(journal), plain(joined(found.lost, 3))),
            false};
    }
    const QString when = QLocale().toString(QFileInfo(journal).lastModified(), QLocale::ShortFormat);
    QString text = leftText("%1, %2, %3").arg(widgets::shownName(model), workOf(found), when);
    if (!found.lost.empty())
        text += leftText("; %1 of its lines cannot be read").arg(found.lost.size());
    return RecoverableSession{journal, model, text};
}

} // namespace

QString newJournal()
{
    return journalFolder() + '/' + QUuid::createUuid().toString(QUuid::WithoutBraces) + kJournalEnding;
}

std::unique_ptr<QLockFile> lockOf(const QString &journal)
{
    auto lock = std::make_unique<QLockFile>(journal + kLockEnding);
    lock->setStaleLockTime(0);
    lock->tryLock();
    return lock;
}

QStringList recoverableJournals()
{
    QStringList left;
    const QDir folder(journalFolder());
    for (const QFileInfo &file : folder.entryInfoList({'*' + kJournalEnding}, QDir::Files, QDir::Time)) {
        QLockFile lock(file.filePath() + kLockEnding);
        lock.setStaleLockTime(0);
        if (lock.tryLock()) // also when the one that held it is gone
            left << file.filePath();
    }
    return left;
}

std::vector<RecoverableSession> recoverableSessions(const QString &model)
{
    std::vector<RecoverableSession> all;
    for (const QString &journal : recoverableJournals()) {
        if (auto work = readRecoverableSession(journal))
            all.push_back(std::move(*work));
        else
            discardJournal(journal); // nothing to bring back, or to keep
    }
    if (!model.isEmpty())
        std::stable_partition(all.begin(), all.end(),
                              [&model](const RecoverableSession &work) { return work.model == model; });
    std::stable_partition(all.begin(), all.end(), std::mem_fn(&RecoverableSession::isReadable));
    return all;
}

void discardJournal(const QString &journal)
{
    QFile::remove(journal);
}

QString moveJournalAway(const QString &journal)
{
    const QString kept = journal + QStringLiteral(".kept");
    return QFile::rename(journal, kept) ? kept : journal;
}

} // namespace halftone::app
