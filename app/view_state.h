#pragma once

#include "app/bookmark.h"
#include "core/layout/shown_graph.h"
#include "widgets/graphview/looks.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::app {

/// What a session keeps of the window. What is absent stays as it is.
struct ViewState
{
    std::optional<bool> liveErrors;
    std::optional<bool> liveLatency;
    std::optional<widgets::ColourBy> colourBy;
    std::optional<widgets::Sides> sides;
    std::vector<char> openBlocks; ///< empty: none are known
    std::vector<Bookmark> bookmarks = {};
    std::optional<widgets::Camera> camera = {}; ///< of the graph with those blocks
    std::optional<layout::Detail> detail = {};
};

/// As a session file holds it, by key.
using ViewTexts = std::map<std::string, std::string>;

ViewTexts textsOf(const ViewState &state);
/// Texts that say nothing sensible count as absent.
ViewState viewStateOf(const ViewTexts &texts);

} // namespace halftone::app
