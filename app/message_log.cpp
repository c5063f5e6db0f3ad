#include "app/message_log.h"

#include "widgets/common/formatters.h"

#include <QTime>

#include <map>
#include <set>
#include <string>

namespace halftone::app {
namespace {

constexpr int kMostLines = 2000;

constexpr std::size_t kMostOfAKind = 3;

/// List and beginning of the text: warnings that say the same of different names.
std::string kindOfWarning(const policy::Warning &warning)
{
    const std::string list = warning.entry.substr(0, warning.entry.find(':'));
    std::size_t end = 0;
    for (int words = 0; words < 3 && end != std::string::npos; ++words)
        end = warning.text.find(' ', end == 0 ? 0 : end + 1);
    return list + ": " + warning.text.substr(0, end);
}

/// Many of a kind are one line, with the first of them.
QStringList warningsOf(const session::Snapshot *snapshot)
{
    QStringList warnings;
    if (!snapshot || !snapshot->converted)
        return warnings;
    std::map<std::string, std::size_t> counts;
    for (const policy::Warning &warning : snapshot->converted->warnings)
        ++counts[kindOfWarning(warning)];
    std::set<std::string> told;
    for (const policy::Warning &warning : snapshot->converted->warnings) {
        const std::string kind = kindOfWarning(warning);
        const QString text = widgets::plain(warning.entry + ' ' + warning.text);
        if (counts[kind] <= kMostOfAKind)
            warnings << text;
        else if (told.insert(kind).second)
            warnings
                << MessageLog::tr("%1 (and %2 more warnings of this kind)").arg(text).arg(counts[kind] - 1);
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
