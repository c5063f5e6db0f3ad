#include "core/runtimes/refusal.h"

#include "core/base/text.h"

#include <string_view>

namespace halftone::runtimes {
namespace {

bool isPartOfName(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '/'
        || c == '.' || c == ':';
}

/// Do the words have the name as a whole?
bool haveName(std::string_view words, std::string_view name)
{
    for (std::size_t at = words.find(name); at != std::string_view::npos; at = words.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        if ((at == 0 || !isPartOfName(words[at - 1])) && (end == words.size() || !isPartOfName(words[end])))
            return true;
    }
    return false;
}

/// The longest name of a node that the words have.
std::string nodeIn(const std::string &words, const graph::Graph &graph)
{
    constexpr std::size_t kShortest = 3; ///< shorter names may be part of any sentence
    std::string best;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const std::string &name = graph.node(id).name;
        if (!graph.isVariable(id) && name.size() >= kShortest && name.size() > best.size()
            && haveName(words, name))
            best = name;
    }
    return best;
}

/// The lines as one, without the folders of the runtime's own sources.
std::string onOneLine(const std::string &words)
{
    std::string line;
    for (const char c : words) {
        const bool isSpace = c == '\n' || c == '\r' || c == '\t' || c == ' ';
        if (!isSpace)
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    return std::string(trimmed(line));
}

} // namespace

Error refusal(Errc code, const graph::Graph &graph, const std::string &title, const std::string &words)
{
    const std::string node = nodeIn(words, graph);
    return {code, {}, node.empty() ? title : node, (node.empty() ? "" : title + ": ") + onOneLine(words), {}};
}

} // namespace halftone::runtimes
