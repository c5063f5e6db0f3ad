#include "app/bookmark.h"

#include "widgets/common/formatters.h"

#include <QByteArray>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>

#include <cmath>
#include <optional>

namespace halftone::app {
namespace {

constexpr qsizetype kMostBookmarks = 100;
constexpr double kFurthest = 1e9; ///< of a place in the scene

/// From 0 to `most`; nothing for any other text.
std::optional<int> countOf(const QString &text, int most)
{
    bool isNumber = false;
    const int number = text.toInt(&isNumber);
    return isNumber && number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

template <class Choice>
std::optional<Choice> choiceOf(const QJsonValue &value, Choice last)
{
    const int number = value.toInt(-1);
    return number >= 0 && number <= static_cast<int>(last) ? std::optional(static_cast<Choice>(number))
                                                           : std::nullopt;
}

std::optional<widgets::Camera> sensibleCamera(double scale, double x, double y)
{
    const bool isSensible = scale >= widgets::Camera::kLeast && scale <= widgets::Camera::kMost
        && std::abs(x) <= kFurthest && std::abs(y) <= kFurthest;
    return isSensible ? std::optional(widgets::Camera{scale, {x, y}}) : std::nullopt;
}

std::optional<Bookmark> bookmarkOf(const QJsonObject &object)
{
    const QString name
        = widgets::plain(object[u"name"].toString().toStdString()).left(Bookmark::kMostCharacters).trimmed();
    const auto camera = sensibleCamera(object[u"scale"].toDouble(-1), object[u"x"].toDouble(HUGE_VAL),
                                       object[u"y"].toDouble(HUGE_VAL));
    const auto colourBy = choiceOf(object[u"colour_by"], widgets::ColourBy::RanIn);
    const auto sides = choiceOf(object[u"sides"], widgets::Sides::Both);
    if (name.isEmpty() || !camera || !colourBy || !sides)
        return std::nullopt;
    return Bookmark{name, openBlocksOf(object[u"open_blocks"].toString()), *camera, *colourBy, *sides};
}

} // namespace

std::string openBlocksText(const std::vector<char> &open)
{
    std::string text = std::to_string(open.size());
    for (std::size_t block = 0; block < open.size(); ++block) {
        if (open[block] != 0)
            text += ' ' + std::to_string(block);
    }
    return text;
}

std::vector<char> openBlocksOf(const QString &text)
{
    constexpr int kMostBlocks = 10'000'000;
    const QStringList words = text.split(' ', Qt::SkipEmptyParts);
    const auto count = countOf(words.value(0), kMostBlocks);
    if (!count || words.size() > *count + 1)
        return {};
    std::vector<char> open(static_cast<std::size_t>(*count), 0);
    for (qsizetype k = 1; k < words.size(); ++k) {
        const auto block = countOf(words[k], *count - 1);
        if (!block)
            return {};
        open[static_cast<std::size_t>(*block)] = 1;
    }
    return open;
}

std::string cameraText(const widgets::Camera &camera)
{
    constexpr int kDigits = 9;
    QStringList words;
    for (const double value : {camera.scale, camera.origin.x(), camera.origin.y()})
        words << QString::number(value, 'g', kDigits);
    return words.join(' ').toStdString();
}

std::optional<widgets::Camera> cameraOf(const QString &text)
{
    const QStringList words = text.split(' ', Qt::SkipEmptyParts);
    if (words.size() != 3)
        return std::nullopt;
    const auto number = [&words](qsizetype k) {
        bool isNumber = false;
        const double value = words[k].toDouble(&isNumber);
        return isNumber ? value : HUGE_VAL;
    };
    return sensibleCamera(number(0), number(1), number(2));
}

std::string bookmarksText(const std::vector<Bookmark> &bookmarks)
{
    QJsonArray list;
    for (const Bookmark &bookmark : bookmarks)
        list.append(QJsonObject{
            {QStringLiteral("name"), bookmark.name},
            {QStringLiteral("open_blocks"), QString::fromStdString(openBlocksText(bookmark.open))},
            {QStringLiteral("scale"), bookmark.camera.scale},
            {QStringLiteral("x"), bookmark.camera.origin.x()},
            {QStringLiteral("y"), bookmark.camera.origin.y()},
            {QStringLiteral("colour_by"), static_cast<int>(bookmark.colourBy)},
            {QStringLiteral("sides"), static_cast<int>(bookmark.sides)}});
    return list.isEmpty() ? std::string() : QJsonDocument(list).toJson(QJsonDocument::Compact).toStdString();
}

std::vector<Bookmark> bookmarksOf(const std::string &text)
{
    std::vector<Bookmark> bookmarks;
    const QJsonArray list = QJsonDocument::fromJson(QByteArray::fromStdString(text)).array();
    for (qsizetype k = 0; k < std::min(list.size(), kMostBookmarks); ++k) {
        if (auto bookmark = bookmarkOf(list[k].toObject()))
            bookmarks.push_back(std::move(*bookmark));
    }
    return bookmarks;
}

} // namespace halftone::app
