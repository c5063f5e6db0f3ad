#pragma once

#include <QLockFile>
#include <QString>
#include <QStringList>

#include <memory>
#include <vector>

/// Journals of unsaved edits, and which of them programs left that are gone.
namespace halftone::app {

/// Unsaved work of a program that is gone.
struct RecoverableSession
{
    QString journal; ///< the file
    QString model;
    QString text; ///< "digits-symbol.json, 3 edits, 21/11/26 17:03"; why it cannot be brought back
    bool isReadable = true; ///< else it is kept, for a version that understands it
};

/// A path that no journal has yet.
QString newJournal();
/// Held as long as this program lives: whoever finds a journal without it knows that its program is gone.
std::unique_ptr<QLockFile> lockOf(const QString &journal);

/// Journals of programs that are gone, newest first.
QStringList recoverableJournals();
/// What these bring back, that of `model` first, then those that cannot be read. Journals that hold no edit, and were understood to
/// their end, are discarded.
std::vector<RecoverableSession> recoverableSessions(const QString &model = {});
void discardJournal(const QString &journal);
/// Where it is kept and not offered any more; gives the path.
QString moveJournalAway(const QString &journal);

} // namespace halftone::app
