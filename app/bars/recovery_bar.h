#pragma once

#include "app/bars/notice_bar.h"
#include "app/recoverable_session.h"

#include <QSet>

namespace halftone::app {

/// Offers unsaved work that a killed program left, beside whatever was opened.
class RecoveryBar : public NoticeBar
{
    Q_OBJECT

public:
    explicit RecoveryBar(QWidget *parent = nullptr);

    /// Offers what is left, that of `model` first; what was closed once is not offered again by this program.
    void offer(const QString &model);

    /// What is said of work that cannot be brought back.
    static QString unreadText(const RecoverableSession &work);

Q_SIGNALS:
    void recoverRequested(const QString &journal);

private:
    QString m_offered; ///< the journal
    QSet<QString> m_closed;
};

} // namespace halftone::app
