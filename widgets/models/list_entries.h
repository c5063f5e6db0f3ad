#pragma once

#include "core/policy/policy.h"
#include "core/policy/rules.h"
#include "core/session/snapshot.h"

#include <QString>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace halftone::widgets {

/// The lists as a person sees them, from the most to the least deciding.
enum class ListId : std::uint8_t
{
    Target,
    Int8, ///< over the others: an operator in it is shown here alone
    Fp32,
    Widest,
    Conditional,
    Excluded,
    Neutral
};

inline constexpr std::array kAllLists{ListId::Target,      ListId::Int8,     ListId::Fp32,   ListId::Widest,
                                      ListId::Conditional, ListId::Excluded, ListId::Neutral};

/// One line of a list.
struct ListEntry
{
    enum class Kind : std::uint8_t
    {
        Operator,
        Condition, ///< one rule of an operator
        Node, ///< a single node: overridden, or excluded by its name
        Nodes, ///< more than kMostAlike of these with one operator, in one row
        Pattern ///< excludes or overrides nodes, written /…/
    };

    Kind kind = Kind::Operator;
    std::string name; ///< canonical operator, name of the node, or the pattern with its slashes
    std::string op; ///< of a Node; empty where no operator has its name
    std::vector<std::string> members; ///< names of Nodes, sorted
    policy::ConditionalRule rule; ///< of a Condition
    std::size_t ruleIndex = 0; ///< of a Condition, among its operator's rules
    bool isOwn = false; ///< it is not in the built-in list of that kind
    QString origin; ///< "built-in float16 1.9.1", "own"; for a moved operator with the list that it came from
    std::size_t nodes = 0; ///< of the model that it decides for
    bool inModel = false; ///< the model has such an operator
    QString idle; ///< why it decides nothing in this model; empty if it does decide

    QString text() const; ///< "Convolution", "Activation · act_type = softrelu", "/stage4/"
    bool operator==(const ListEntry &) const = default;
};

inline constexpr std::size_t kMostAlike = 8; ///< nodes of one operator that have a row each in one list

/// What a view of the lists asks for.
struct ListFilter
{
    bool everyOperator = false; ///< also built-in entries for operators that the model lacks
    bool constants = false; ///< also operators whose nodes are constants, and that nobody has moved
    QString text{}; ///< part of an entry's text, whatever the case; nodes that fit have a row each
    std::set<std::pair<ListId, std::string>>
        opened{}; ///< operators whose nodes have a row each, however many
};

using ListEntries = std::array<std::vector<ListEntry>, kAllLists.size()>; ///< by ListId

/// The entries of all lists: the model's own operators first, then nodes, then operators that the model lacks; each by
/// name. Linear in nodes, and in MXNet's operators.
ListEntries listEntries(const session::Snapshot &snapshot, const ListFilter &filter);

/// The order of entries within a list; no two of a list are equal.
bool isBefore(const ListEntry &a, const ListEntry &b);

QString titleOf(ListId list, tensor::DType target); ///< "float16", "fp32", "widest", …
ListId listIdOf(policy::List list);
policy::List policyList(ListId list); ///< needs: not Excluded
/// The list an operator stands in, int8 before any other; Neutral where none names it.
ListId listOf(const policy::Rules &rules, const std::string &op);
/// The list that holds where it cannot be int8.
ListId listBelowInt8(const policy::Rules &rules, const std::string &op);

} // namespace halftone::widgets
