#pragma once

#include <QString>
#include <QStringList>

#include <string>

/// Values as a Python program writes them.
namespace halftone::widgets {

/// In single quotes; what cannot stand in them is escaped.
QString pythonText(const QString &text);
QString pythonText(const std::string &text);

/// A list of what is written already, broken into lines of at most some 100 characters behind `indent` blanks.
QString pythonList(const QStringList &items, int indent);

} // namespace halftone::widgets
