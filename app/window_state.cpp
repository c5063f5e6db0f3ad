#include "app/document_files.h"
#include "app/main_window.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/graph_view.h"

#include <QCheckBox>

/// What a session keeps of the window.
namespace halftone::app {
namespace {

using Texts = std::map<std::string, std::string>;

std::string valueOf(const Texts &state, const char *key)
{
    const auto found = state.find(key);
    return found == state.end() ? std::string() : found->second;
}

/// From 0 to `most`; nothing for any other text.
std::optional<int> numberOf(const QString &text, int most)
{
    bool isNumber = false;
    const int number = text.toInt(&isNumber);
    return isNumber && number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

/// How many blocks there are, then those that are open: "9 0 2 3".
std::string openBlocksText(const std::vector<char> &open)
{
    std::string text = std::to_string(open.size());
    for (std::size_t block = 0; block < open.size(); ++block) {
        if (open[block] != 0)
            text += ' ' + std::to_string(block);
    }
    return text;
}

/// Empty for what is no such text.
std::vector<char> openBlocksOf(const std::string &text)
{
    constexpr int kMostBlocks = 10'000'000;
    const QStringList words = widgets::plain(text).split(' ', Qt::SkipEmptyParts);
    const auto count = numberOf(words.value(0), kMostBlocks);
    if (!count || words.size() > *count + 1)
        return {};
    std::vector<char> open(static_cast<std::size_t>(*count), 0);
    for (qsizetype k = 1; k < words.size(); ++k) {
        const auto block = numberOf(words[k], *count - 1);
        if (!block)
            return {};
        open[static_cast<std::size_t>(*block)] = 1;
    }
    return open;
}

} // namespace

Texts MainWindow::viewState() const
{
    Texts state{{"live_errors", m_liveErrors->isChecked() ? "on" : "off"},
                {"live_latency", m_liveLatency->isChecked() ? "on" : "off"},
                {"colour_by", std::to_string(static_cast<int>(m_graph->colourBy()))},
                {"sides", std::to_string(static_cast<int>(m_graph->sides()))}};
    if (const std::vector<char> open = m_graph->openBlocks(); !open.empty())
        state.emplace("open_blocks", openBlocksText(open));
    return state;
}

void MainWindow::restoreViewState(const Texts &state)
{
    const std::string errors = valueOf(state, "live_errors");
    if (!errors.empty())
        m_liveErrors->setChecked(errors == "on");
    const std::string latency = valueOf(state, "live_latency");
    if (!latency.empty())
        m_liveLatency->setChecked(latency == "on");
    const auto choice
        = [&state](const char *key, int most) { return numberOf(widgets::plain(valueOf(state, key)), most); };
    if (const auto colour = choice("colour_by", static_cast<int>(widgets::ColourBy::Overflow)))
        m_graph->setColourBy(static_cast<widgets::ColourBy>(*colour));
    if (const auto sides = choice("sides", static_cast<int>(widgets::Sides::Both)))
        m_graph->setSides(static_cast<widgets::Sides>(*sides));
    if (std::vector<char> open = openBlocksOf(valueOf(state, "open_blocks")); !open.empty())
        m_graph->restoreOpenBlocks(std::move(open));
}

} // namespace halftone::app
