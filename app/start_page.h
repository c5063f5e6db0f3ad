#pragma once

#include <QWidget>

class QLabel;
class QVBoxLayout;

namespace halftone::app {

struct RecoverableSession;

/// What is shown while nothing is open: open, the sample, recent files, unsaved work of a crash, and why the last file did
/// not open.
class StartPage : public QWidget
{
    Q_OBJECT

public:
    explicit StartPage(QWidget *parent = nullptr);

    void refresh(); ///< recent files and left journals, read anew
    void showFailure(const QString &path, const QString &why);
    void clearFailure();

Q_SIGNALS:
    void openRequested(); ///< by a dialog
    void sampleRequested();
    void fileRequested(const QString &path);
    void recoverRequested(const QString &journalPath);

private:
    void addRecent(const QString &path, int number);
    void addJournal(const RecoverableSession &work);

    QWidget *m_failure = nullptr;
    QLabel *m_failureTitle = nullptr;
    QLabel *m_failureText = nullptr;
    QVBoxLayout *m_journals = nullptr;
    QVBoxLayout *m_recent = nullptr;
};

} // namespace halftone::app
