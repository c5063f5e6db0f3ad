#include "app/view_state.h"

#include "widgets/common/formatters.h"

namespace halftone::app {
namespace {

constexpr const char *kLiveErrors = "live_errors";
constexpr const char *kLiveLatency = "live_latency";
constexpr const char *kColourBy = "colour_by";
constexpr const char *kSides = "sides";
constexpr const char *kOpenBlocks = "open_blocks";
constexpr const char *kBookmarks = "bookmarks";
constexpr const char *kCamera = "camera";
constexpr const char *kDetail = "detail";

QString textAt(const ViewTexts &texts, const char *key)
{
    const auto found = texts.find(key);
    return found == texts.end() ? QString() : widgets::plain(found->second);
}

std::optional<bool> switchAt(const ViewTexts &texts, const char *key)
{
    const QString text = textAt(texts, key);
    return text.isEmpty() ? std::nullopt : std::optional(text == u"on");
}

/// From 0 to `most`; nothing for any other text.
std::optional<int> numberOf(const QString &text, int most)
{
    bool isNumber = false;
    const int number = text.toInt(&isNumber);
    return isNumber && number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

template <class Choice>
std::optional<Choice> choiceAt(const ViewTexts &texts, const char *key, Choice last)
{
    const auto number = numberOf(textAt(texts, key), static_cast<int>(last));
    return number ? std::optional(static_cast<Choice>(*number)) : std::nullopt;
}

} // namespace

ViewTexts textsOf(const ViewState &state)
{
    ViewTexts texts;
    const auto add = [&texts](const char *key, const auto &value, auto textOf) {
        if (value)
            texts.emplace(key, textOf(*value));
    };
    const auto onOff = [](bool on) { return on ? "on" : "off"; };
    const auto number = [](auto choice) { return std::to_string(static_cast<int>(choice)); };
    add(kLiveErrors, state.liveErrors, onOff);
    add(kLiveLatency, state.liveLatency, onOff);
    add(kColourBy, state.colourBy, number);
    add(kSides, state.sides, number);
    add(kDetail, state.detail, number);
    add(kCamera, state.camera, cameraText);
    if (!state.openBlocks.empty())
        texts.emplace(kOpenBlocks, openBlocksText(state.openBlocks));
    if (!state.bookmarks.empty())
        texts.emplace(kBookmarks, bookmarksText(state.bookmarks));
    return texts;
}

ViewState viewStateOf(const ViewTexts &texts)
{
    ViewState state;
    state.liveErrors = switchAt(texts, kLiveErrors);
    state.liveLatency = switchAt(texts, kLiveLatency);
    state.colourBy = choiceAt(texts, kColourBy, widgets::ColourBy::RanIn);
    state.sides = choiceAt(texts, kSides, widgets::Sides::Both);
    state.detail = choiceAt(texts, kDetail, layout::Detail::Everything);
    state.camera = cameraOf(textAt(texts, kCamera));
    state.openBlocks = openBlocksOf(textAt(texts, kOpenBlocks));
    if (const auto found = texts.find(kBookmarks); found != texts.end())
        state.bookmarks = bookmarksOf(found->second);
    return state;
}

} // namespace halftone::app
