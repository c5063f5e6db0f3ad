#include "widgets/models/name_pattern.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>

namespace halftone::widgets {
namespace {

constexpr std::size_t kMostForms = 3;

bool isDigitOfName(char byte)
{
    return byte >= '0' && byte <= '9';
}

/// A name as its numbers and the text between them: "layers.12.norm1" as {"layers.", ".norm", ""} and {"12", "1"}.
struct NumberedName
{
    std::vector<std::string> texts{std::string()};
    std::vector<std::string> numbers;

    explicit NumberedName(std::string_view name)
    {
        for (std::size_t at = 0; at < name.size(); ++at) {
            if (!isDigitOfName(name[at])) {
                texts.back() += name[at];
                continue;
            }
            const bool isFirst = at == 0 || !isDigitOfName(name[at - 1]);
            if (isFirst) {
                numbers.emplace_back();
                texts.emplace_back();
            }
            numbers.back() += name[at];
        }
    }
};

/// Names with the same text between their numbers.
struct NameForm
{
    std::vector<std::string> numbers; ///< of the first one; "": they differ there
    std::size_t count = 0;

    void add(const std::vector<std::string> &others)
    {
        if (count++ == 0)
            numbers = others;
        for (std::size_t k = 0; k < numbers.size(); ++k)
            if (numbers[k] != others[k])
                numbers[k].clear();
    }

    bool fits(const std::vector<std::string> &others) const
    {
        return std::ranges::equal(numbers, others, [](const std::string &mine, const std::string &other) {
            return mine.empty() || mine == other;
        });
    }
};

std::string escapedForPattern(std::string_view text)
{
    std::string escaped;
    for (const char byte : text) {
        if (std::string_view(R"(\.+*?()[]{}^$|)").find(byte) != std::string_view::npos)
            escaped += '\\';
        escaped += byte;
    }
    return escaped;
}

std::string patternOf(const std::vector<std::string> &texts, const NameForm &form)
{
    std::string pattern = escapedForPattern(texts.front());
    for (std::size_t k = 0; k < form.numbers.size(); ++k)
        pattern += (form.numbers[k].empty() ? "\\d+" : form.numbers[k]) + escapedForPattern(texts[k + 1]);
    return pattern;
}

} // namespace

std::optional<std::string> patternFor(const graph::Graph &graph, const std::vector<std::string> &names)
{
    const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
    std::map<std::vector<std::string>, NameForm> forms;
    for (const std::string &name : names) {
        const NumberedName numbered(name);
        forms[numbered.texts].add(numbered.numbers);
        if (forms.size() > kMostForms)
            return std::nullopt;
    }
    if (forms.empty())
        return std::nullopt;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (node.isVariable() || wanted.contains(node.name))
            continue;
        const NumberedName numbered(node.name);
        const auto form = forms.find(numbered.texts);
        if (form != forms.end() && form->second.fits(numbered.numbers))
            return std::nullopt; // it says more than is meant
    }
    std::string pattern;
    for (const auto &[texts, form] : forms)
        pattern += (pattern.empty() ? "" : "|") + patternOf(texts, form);
    return forms.size() == 1 ? "/^" + pattern + "$/" : "/^(?:" + pattern + ")$/";
}

} // namespace halftone::widgets
