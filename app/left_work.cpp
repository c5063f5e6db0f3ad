#include "app/left_work.h"

#include "app/drawn_inputs.h"
#include "app/settings.h"
#include "core/session/journal.h"
#include "widgets/common/formatters.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QUuid>

#include <algorithm>
#include <optional>
#include <utility>

namespace halftone::app {
namespace {

using widgets::plain;

const QString kJournalEnding = QStringLiteral(".journal");
const QString kLockEnding = QStringLiteral(".lock");

QString leftText(const char *text)
{
    return QCoreApplication::translate("LeftWork", text);
}

QString workOf(const session::Journal::Head &head)
{
    QString edits = head.steps == 1 ? leftText("1 edit")
        : head.steps > 1            ? leftText("%1 edits").arg(head.steps)
                                    : QString();
    if (!head.hasOtherData)
        return edits;
    const QString data = areDrawn(head.state.data)
        ? leftText("drawn inputs")
        : leftText("%1 attached").arg(QFileInfo(plain(head.state.data->inputs)).fileName());
    return edits.isEmpty() ? data : edits + QStringLiteral(", ") + data;
}

/// Nothing for what is no journal or holds neither an edit nor data.
std::optional<LeftWork> readLeftWork(const QString &journal)
{
    const auto head = session::Journal::read(journal.toStdString());
    if (!head.ok() || (head.value().steps == 0 && !head.value().hasOtherData))
        return std::nullopt;
    const QString model = plain(head.value().state.modelPath);
    const QString when = QLocale().toString(QFileInfo(journal).lastModified(), QLocale::ShortFormat);
    return LeftWork{journal, model,
                    leftText("%1, %2, %3").arg(QFileInfo(model).fileName(), workOf(head.value()), when)};
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

QStringList leftJournals()
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

std::vector<LeftWork> leftWork(const QString &model)
{
    std::vector<LeftWork> all;
    for (const QString &journal : leftJournals()) {
        if (auto work = readLeftWork(journal))
            all.push_back(std::move(*work));
        else
            discardJournal(journal); // nothing to bring back
    }
    if (!model.isEmpty())
        std::stable_partition(all.begin(), all.end(), [&model](const LeftWork &work) {
            return QFileInfo(work.model) == QFileInfo(model);
        });
    return all;
}

void discardJournal(const QString &journal)
{
    QFile::remove(journal);
}

} // namespace halftone::app
