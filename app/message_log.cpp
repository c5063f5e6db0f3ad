#include "app/message_log.h"

#include "widgets/common/formatters.h"

#include <QTime>

namespace halftone::app {
namespace {

constexpr int kMostLines = 2000;

QStringList warningsOf(const session::Snapshot *snapshot)
{
    QStringList warnings;
    if (snapshot && snapshot->converted) {
        for (const policy::Warning &warning : snapshot->converted->warnings)
            warnings << widgets::plain(warning.entry + ' ' + warning.text);
    }
    return warnings;
}

} // namespace

MessageLog::MessageLog(QWidget *parent)
    : QPlainTextEdit(parent)
{
    setReadOnly(true);
    setMaximumBlockCount(kMostLines);
    setPlaceholderText(tr("Notes, warnings and errors appear here."));
    setAccessibleName(tr("Messages"));
}

void MessageLog::add(const QString &text)
{
    appendPlainText(QTime::currentTime().toString(QStringLiteral("HH:mm:ss  ")) + text);
}

void MessageLog::forget()
{
    clear();
    m_warnings.clear();
}

void MessageLog::addWarnings(const session::Snapshot *snapshot)
{
    const QStringList warnings = warningsOf(snapshot);
    for (const QString &warning : warnings) {
        if (!m_warnings.contains(warning))
            add(warning);
    }
    m_warnings = warnings;
}

} // namespace halftone::app
