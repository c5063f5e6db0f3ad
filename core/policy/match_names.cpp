#include "core/base/text.h"
#include "core/policy/pattern.h"
#include "core/policy/rules.h"
#include "core/policy/wording.h"

#include <algorithm>
#include <unordered_set>

namespace halftone::policy {
namespace {

constexpr std::string_view kExcluded = "excluded_sym_names";
constexpr std::string_view kOverrides = "node_overrides";

/// Near names are looked for only so often and among so many: each costs an edit distance a candidate.
constexpr std::size_t kMostSuggestions = 5;
constexpr std::size_t kMostCandidates = 10'000;
/// Warnings beyond these are counted, not told.
constexpr std::size_t kMostWarnings = 50;

bool looksLikePattern(std::string_view text)
{
    return text.size() >= 2 && text.front() == '/' && text.back() == '/';
}

class NameMatcher
{
public:
    NameMatcher(const Policy &policy, const graph::Graph &graph, std::vector<Warning> &warnings)
        : m_policy(policy)
        , m_graph(graph)
        , m_warnings(warnings)
    {
    }

    Result<NamedNodes> match();

private:
    struct NamedPattern
    {
        std::string_view text;
        Pattern pattern;
        std::size_t operators = 0;
        tensor::DType type = tensor::DType::F32; ///< of an override
        std::string_view yieldsTo{}; ///< a pattern that gives some of its operators another type
        bool isExcluded = false; ///< some of its operators are
    };

    void findExactNames();
    void findBodies();
    static Result<Pattern> compiled(const std::string &name, const std::string &where);
    Result<void> exclude(std::size_t index);
    void excludePatterns();
    Result<void> applyOverride(const std::string &name, tensor::DType type);
    void overrideByPatterns();
    void overrideOne(graph::NodeId id);
    void warnOf(const NamedPattern &overriding);
    void warn(std::string_view key, std::string_view name, std::string text);
    std::string nearNames(std::string_view name);

    const Policy &m_policy;
    const graph::Graph &m_graph;
    std::vector<Warning> &m_warnings;
    NamedNodes m_found;
    /// The nodes of each name in the policy; names need not be unique in a graph.
    std::unordered_map<std::string_view, std::vector<graph::NodeId>> m_nodesOf;
    std::vector<NamedPattern> m_patterns; ///< that exclude
    std::vector<NamedPattern> m_overriding;
    std::unordered_set<std::string_view> m_namesInBodies; ///< of control flow, also nested
    std::vector<std::string_view> m_candidates;
    std::size_t m_suggestions = 0;
    std::size_t m_told = 0;
};

void NameMatcher::findExactNames()
{
    for (const std::string &name : m_policy.excludedNames)
        m_nodesOf.try_emplace(name);
    for (const auto &[name, type] : m_policy.nodeOverrides)
        m_nodesOf.try_emplace(name);
    for (graph::NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        if (const auto at = m_nodesOf.find(m_graph.node(id).name); at != m_nodesOf.end())
            at->second.push_back(id);
    }
}

void NameMatcher::findBodies()
{
    std::vector<const graph::Graph *> bodies;
    const auto look = [&](const graph::Graph &graph, bool isBody) {
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (isBody)
                m_namesInBodies.insert(graph.node(id).name);
            for (const auto &body : graph.node(id).subgraphs)
                bodies.push_back(body.get());
        }
    };
    look(m_graph, false);
    for (std::size_t k = 0; k < bodies.size(); ++k)
        look(*bodies[k], true);
}

void NameMatcher::warn(std::string_view key, std::string_view name, std::string text)
{
    if (++m_told <= kMostWarnings)
        m_warnings.push_back({entryText(key, name), std::move(text)});
}

std::string NameMatcher::nearNames(std::string_view name)
{
    if (++m_suggestions > kMostSuggestions)
        return {};
    if (m_candidates.empty()) {
        for (graph::NodeId id = 0; id < m_graph.nodeCount() && m_candidates.size() < kMostCandidates; ++id) {
            if (!m_graph.isVariable(id))
                m_candidates.emplace_back(m_graph.node(id).name);
        }
    }
    return didYouMean(nearestNames(name, m_candidates));
}

Result<Pattern> NameMatcher::compiled(const std::string &name, const std::string &where)
{
    if (name.size() == 2)
        return badInput(where, "an empty pattern", "a pattern between the slashes");
    auto pattern = Pattern::compile(std::string_view(name).substr(1, name.size() - 2));
    if (!pattern.ok()) {
        Error error = std::move(pattern).error();
        error.where = where + ", " + error.where + " of the pattern";
        return error;
    }
    return pattern;
}

Result<void> NameMatcher::exclude(std::size_t index)
{
    const std::string &name = m_policy.excludedNames[index];
    const std::vector<graph::NodeId> &nodes = m_nodesOf.at(name);
    if (nodes.empty() && looksLikePattern(name)) {
        HALFTONE_TRY(Pattern pattern, compiled(name, indexed(kExcluded, index)));
        m_patterns.push_back({name, std::move(pattern)});
        return {};
    }
    if (nodes.empty() && !m_namesInBodies.contains(name))
        warn(kExcluded, name, "matches no node" + nearNames(name));
    bool variable = false;
    for (const graph::NodeId id : nodes) {
        m_found.excluded.try_emplace(id, name);
        variable = variable || m_graph.isVariable(id);
    }
    if (variable)
        warn(kExcluded, name, "is a variable: excluding it has no effect on operators");
    return {};
}

/// Patterns name operators only: `/conv1/` is meant for the convolution, not for conv1_weight.
void NameMatcher::excludePatterns()
{
    for (graph::NodeId id = 0; id < m_graph.nodeCount() && !m_patterns.empty(); ++id) {
        if (m_graph.isVariable(id))
            continue;
        for (NamedPattern &one : m_patterns) {
            if (!one.pattern.matches(m_graph.node(id).name))
                continue;
            ++one.operators;
            m_found.excluded.try_emplace(id, one.text);
        }
    }
    for (const NamedPattern &one : m_patterns) {
        const auto matches = [&](std::string_view name) { return one.pattern.matches(name); };
        if (one.operators == 0 && std::ranges::none_of(m_namesInBodies, matches))
            warn(kExcluded, one.text, "matches no operator");
    }
}

Result<void> NameMatcher::applyOverride(const std::string &name, tensor::DType type)
{
    const std::vector<graph::NodeId> &nodes = m_nodesOf.at(name);
    if (nodes.empty() && looksLikePattern(name)) {
        HALFTONE_TRY(Pattern pattern, compiled(name, std::string(kOverrides) + '[' + inQuotes(name) + ']'));
        m_overriding.push_back({name, std::move(pattern), 0, type});
        return {};
    }
    if (nodes.empty() && !m_namesInBodies.contains(name))
        warn(kOverrides, name, "matches no node" + nearNames(name));
    bool variable = false;
    bool excluded = false;
    for (const graph::NodeId id : nodes) {
        if (m_graph.isVariable(id)) {
            variable = true;
            continue;
        }
        m_found.overrides.try_emplace(id, type);
        excluded = excluded || (type != tensor::DType::F32 && m_found.excluded.contains(id));
    }
    if (variable)
        warn(kOverrides, name, "is a variable: only operators can be overridden");
    if (excluded)
        warn(kOverrides, name, "is also excluded: the override to " + std::string(nameOf(type)) + " applies");
    return {};
}

/// By the first pattern that matches, unless its own name overrides it.
void NameMatcher::overrideOne(graph::NodeId id)
{
    const NamedPattern *first = nullptr;
    const bool isSetByName = m_found.overrides.contains(id);
    for (NamedPattern &one : m_overriding) {
        if (!one.pattern.matches(m_graph.node(id).name))
            continue;
        ++one.operators;
        if (isSetByName)
            continue;
        if (first) {
            if (one.type != first->type)
                one.yieldsTo = first->text;
            continue;
        }
        first = &one;
        one.isExcluded = one.isExcluded || (one.type != tensor::DType::F32 && m_found.excluded.contains(id));
    }
    if (first) {
        m_found.overrides.emplace(id, first->type);
        m_found.overridingPatterns.emplace(id, first->text);
    }
}

void NameMatcher::warnOf(const NamedPattern &overriding)
{
    const auto matches = [&](std::string_view name) { return overriding.pattern.matches(name); };
    if (overriding.operators == 0 && std::ranges::none_of(m_namesInBodies, matches))
        warn(kOverrides, overriding.text, "matches no operator");
    if (!overriding.yieldsTo.empty())
        warn(kOverrides, overriding.text,
             "also matches operators that " + inQuotes(overriding.yieldsTo)
                 + " sets to another type, which applies");
    if (overriding.isExcluded)
        warn(kOverrides, overriding.text,
             "also matches excluded operators: the override to " + std::string(nameOf(overriding.type))
                 + " applies");
}

void NameMatcher::overrideByPatterns()
{
    for (graph::NodeId id = 0; id < m_graph.nodeCount() && !m_overriding.empty(); ++id) {
        if (!m_graph.isVariable(id))
            overrideOne(id);
    }
    for (const NamedPattern &one : m_overriding)
        warnOf(one);
}

Result<NamedNodes> NameMatcher::match()
{
    if (m_policy.excludedNames.empty() && m_policy.nodeOverrides.empty())
        return NamedNodes{};
    findExactNames();
    findBodies();
    for (std::size_t i = 0; i < m_policy.excludedNames.size(); ++i)
        HALFTONE_CHECK(exclude(i));
    excludePatterns();
    for (const auto &[name, type] : m_policy.nodeOverrides)
        HALFTONE_CHECK(applyOverride(name, type == m_policy.analysedFormat ? m_policy.target : type));
    overrideByPatterns();
    if (m_told > kMostWarnings)
        m_warnings.push_back(
            {std::string(kExcluded), std::to_string(m_told - kMostWarnings) + " more such names"});
    return std::move(m_found);
}

} // namespace

Result<NamedNodes> matchNames(const Policy &policy, const graph::Graph &graph, std::vector<Warning> &warnings)
{
    return NameMatcher(policy, graph, warnings).match();
}

} // namespace halftone::policy
