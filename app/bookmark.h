#pragma once

#include "widgets/graphview/camera.h"
#include "widgets/graphview/looks.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace halftone::app {

/// A view of the graph that a person has given a name.
struct Bookmark
{
    static constexpr qsizetype kMostCharacters = 100; ///< of a name

    QString name; ///< not empty
    std::vector<char> open; ///< blocks; empty: as they are
    widgets::Camera camera;
    widgets::ColourBy colourBy = widgets::ColourBy::Precision;
    widgets::Sides sides = widgets::Sides::Converted;

    bool operator==(const Bookmark &) const = default;
};

/// How many blocks there are, then those that are open: "9 0 2 3".
std::string openBlocksText(const std::vector<char> &open);
/// Empty for what is no such text.
std::vector<char> openBlocksOf(const QString &text);

/// Scale and place: "0.5 120 -16".
std::string cameraText(const widgets::Camera &camera);
/// Nothing for what is no such text, or no sensible view.
std::optional<widgets::Camera> cameraOf(const QString &text);

/// As a session's view keeps them: a list of objects in JSON. Empty for none.
std::string bookmarksText(const std::vector<Bookmark> &bookmarks);
/// Those that make sense, the first so many; the rest of such a text counts as absent.
std::vector<Bookmark> bookmarksOf(const std::string &text);

} // namespace halftone::app
