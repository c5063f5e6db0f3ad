#pragma once

#include <QString>

#include <string>

/// Paths are bytes, and need be no text.
namespace halftone::widgets {

/// A path for Qt's functions and for those who hand it on. Bytes that are no UTF-8 become U+DC80 to U+DCFF, which no text holds
/// (the "surrogateescape" of PEP 383), so that pathBytes() gives the same bytes again. Such a path does not exist for Qt.
QString pathText(const std::string &path);
std::string pathBytes(const QString &path);

bool pathExists(const QString &path);
bool isFolder(const QString &path);

/// The path as a person may see it: such bytes as \\xNN.
QString shownPath(const QString &path);
/// Its last part likewise.
QString shownName(const QString &path);

} // namespace halftone::widgets
