#pragma once

#include "core/session/snapshot.h"

#include <QPlainTextEdit>
#include <QStringList>

namespace halftone::app {

/// What was to be said, with the time of each.
class MessageLog : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit MessageLog(QWidget *parent = nullptr);

    void add(const QString &text);
    void forget(); ///< another model is shown
    /// Warnings that the state before did not have: one that stays is told once, not after every edit. Null: nothing is open.
    void addWarnings(const session::Snapshot *snapshot);

private:
    QStringList m_warnings; ///< of what is shown
};

} // namespace halftone::app
