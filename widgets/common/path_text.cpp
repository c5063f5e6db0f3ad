#include "widgets/common/path_text.h"

#include "core/base/text.h"
#include "widgets/common/formatters.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace halftone::widgets {
namespace {

constexpr char16_t kEscape = 0xDC00; ///< and the byte, of 0x80 or more
constexpr unsigned kLeastByte = 0x80;

bool isEscape(QChar unit)
{
    return unit.unicode() >= kEscape + kLeastByte && unit.unicode() <= kEscape + 0xFF;
}

/// Bytes at the start of `path` that are UTF-8, at least one character; 0: the first byte is none.
std::size_t textLength(std::string_view path)
{
    constexpr std::size_t kLongest = 4;
    for (std::size_t length = 1; length <= std::min(kLongest, path.size()); ++length) {
        if (isUtf8(path.substr(0, length)))
            return length;
    }
    return 0;
}

} // namespace

QString pathText(const std::string &path)
{
    if (isUtf8(path))
        return QString::fromStdString(path);
    QString text;
    for (std::string_view rest = path; !rest.empty();) {
        const std::size_t length = textLength(rest);
        if (length == 0)
            text += QChar(static_cast<char16_t>(kEscape + static_cast<unsigned char>(rest.front())));
        else
            text += QString::fromUtf8(rest.data(), static_cast<qsizetype>(length));
        rest.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return text;
}

std::string pathBytes(const QString &path)
{
    std::string bytes;
    qsizetype start = 0;
    const auto addText = [&](qsizetype end) { bytes += path.mid(start, end - start).toStdString(); };
    for (qsizetype at = 0; at < path.size(); ++at) {
        const bool isPair = at > 0 && path[at - 1].isHighSurrogate();
        if (isPair || !isEscape(path[at]))
            continue;
        addText(at);
        bytes += static_cast<char>(path[at].unicode() - kEscape);
        start = at + 1;
    }
    addText(path.size());
    return bytes;
}

bool pathExists(const QString &path)
{
    std::error_code none;
    return std::filesystem::exists(pathBytes(path), none);
}

bool isFolder(const QString &path)
{
    std::error_code none;
    return std::filesystem::is_directory(pathBytes(path), none);
}

QString shownPath(const QString &path)
{
    return plain(printable(pathBytes(path), std::string::npos));
}

QString shownName(const QString &path)
{
    return shownPath(path.mid(path.lastIndexOf(u'/') + 1));
}

} // namespace halftone::widgets
