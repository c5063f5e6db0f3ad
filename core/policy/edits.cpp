#include "core/policy/edits.h"

#include "core/dialect/dialect.h"
#include "core/policy/int8_forms.h"
#include "core/policy/op_lists.h"
#include "core/policy/pattern.h"
#include "core/policy/policy_options.h"
#include "core/policy/wording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace halftone::policy {
namespace {

using Move = Policy::Move;

Move::To moveTo(List list)
{
    return list == List::Target ? Move::To::Target
        : list == List::Fp32    ? Move::To::Fp32
        : list == List::Widest  ? Move::To::Widest
                                : Move::To::Neutral;
}

std::string_view shortName(List list)
{
    switch (list) {
    case List::Target:
        return "target";
    case List::Fp32:
        return "fp32";
    case List::Widest:
        return "widest";
    case List::Conditional:
        return "conditional";
    case List::Int8:
        return "int8";
    case List::Neutral:
        break;
    }
    return "neutral";
}

template <class T>
void addNew(std::vector<T> &all, const T &one)
{
    if (std::ranges::find(all, one) == all.end())
        all.push_back(one);
}

std::string someOf(const std::vector<std::string> &names, const char *many)
{
    return names.size() == 1 ? names.front() : std::to_string(names.size()) + ' ' + many;
}

std::string shortNumber(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", value);
    return text.data();
}

/// Makes the edits one by one; what they make is checked as a whole afterwards.
class Editor
{
public:
    Editor(const Policy &policy, const dialect::Dialect &dialect)
        : m_policy(policy)
        , m_dialect(dialect)
    {
    }

    Result<Policy> take()
    {
        std::vector<Warning> warnings;
        HALFTONE_CHECK(resolved(warnings));
        return std::move(m_policy);
    }

    Result<void> operator()(const MoveOperators &edit)
    {
        if (edit.to == List::Conditional)
            return badInput("conditional_fp32_ops", "an operator without a condition",
                            "an attribute and its values");
        if (edit.to == List::Int8)
            return addInt8(edit.ops);
        dropInt8(edit.ops);
        for (const std::string &op : edit.ops)
            dropMoves(canonical(op));
        std::vector<Warning> warnings;
        HALFTONE_TRY(const Rules rules, resolved(warnings));
        for (const std::string &op : edit.ops) {
            const std::string name = canonical(op);
            const auto place = rules.places.find(name);
            // An operator in no list and one in MXNet's list of neutral ones are treated alike.
            const List stands = place == rules.places.end() ? List::Neutral : place->second.list;
            if (stands != edit.to)
                m_policy.moves.push_back({name, moveTo(edit.to)});
        }
        return {};
    }

    Result<void> operator()(const SetConditions &edit)
    {
        const std::string op = canonical(edit.op);
        const auto isOps = [&](const ConditionalRule &rule) { return canonical(rule.op) == op; };
        dropMoves(op);
        HALFTONE_TRY(const OpLists *const lists,
                     builtInLists(m_dialect, m_policy.target, m_policy.listVersion));
        std::vector<ConditionalRule> rules = m_policy.conditionalOps.value_or(lists->conditional);
        std::erase_if(rules, isOps);
        std::erase_if(m_policy.addedConditions, isOps);
        if (!edit.rules.empty()) {
            dropInt8({op});
            // It may stand in one of those lists only.
            takeOut(m_policy.targetOps, lists->target, op);
            takeOut(m_policy.fp32Ops, lists->fp32, op);
            takeOut(m_policy.widestOps, lists->widest, op);
        }
        rules.insert(rules.end(), edit.rules.begin(), edit.rules.end());
        if (rules == lists->conditional)
            m_policy.conditionalOps.reset();
        else
            m_policy.conditionalOps = std::move(rules);
        return {};
    }

    Result<void> operator()(const ExcludeNames &edit)
    {
        for (const std::string &name : edit.names) {
            if (name.empty())
                return badInput("excluded_sym_names", "an empty name", "a node's name or /pattern/");
            if (name.size() > 2 && name.starts_with('/') && name.ends_with('/'))
                HALFTONE_CHECK(compiles(name));
            addNew(m_policy.excludedNames, name);
        }
        return {};
    }

    Result<void> operator()(const IncludeNames &edit)
    {
        for (const std::string &name : edit.names)
            std::erase(m_policy.excludedNames, name);
        return {};
    }

    Result<void> operator()(const OverrideNodes &edit)
    {
        for (const std::string &node : edit.nodes) {
            if (edit.type)
                m_policy.nodeOverrides.insert_or_assign(node, *edit.type);
            else
                m_policy.nodeOverrides.erase(node);
            m_policy.reasons.erase(node); // it is a person's word now
        }
        return {};
    }

    Result<void> operator()(const SetTarget &edit)
    {
        // What was to be in the target type stays so, whichever it is.
        for (auto &[node, type] : m_policy.nodeOverrides)
            type = type == askedTarget(m_policy) ? edit.target : type;
        setTarget(m_policy, edit.target);
        return {};
    }

    Result<void> operator()(const SetMode &edit)
    {
        m_policy.mode = edit.mode;
        return {};
    }

    Result<void> operator()(const SetListVersion &edit)
    {
        setListVersion(m_policy, edit.version);
        return {};
    }

    Result<void> operator()(const SetCastParams &edit)
    {
        // What the format does of itself is not said.
        m_policy.castParams
            = edit.on == m_dialect.storesCastParameters() ? std::nullopt : std::optional(edit.on);
        return {};
    }

    Result<void> operator()(const SetThresholds &edit)
    {
        std::optional<ThresholdChoice> choice = edit.choice;
        if (choice && choice->value) {
            if (!(*choice->value > 0) || !std::isfinite(*choice->value))
                return badInput("thresholds", std::to_string(*choice->value), "a number above 0");
            choice->method = kDefaultThresholdMethod; // not asked
        }
        for (const std::string &tensor : edit.tensors) {
            if (choice)
                m_policy.thresholds.insert_or_assign(tensor, *choice);
            else
                m_policy.thresholds.erase(tensor);
        }
        return {};
    }

    Result<void> operator()(const SetThresholdMethod &edit)
    {
        m_policy.thresholdMethod
            = edit.method == kDefaultThresholdMethod ? std::nullopt : std::optional(edit.method);
        return {};
    }

    Result<void> operator()(const ReplacePolicy &edit)
    {
        m_policy = edit.policy;
        return {};
    }

private:
    using Names = std::optional<std::vector<std::string>>;

    Result<Rules> resolved(std::vector<Warning> &warnings) const
    {
        return resolve(m_policy, m_dialect, warnings);
    }

    std::string canonical(const std::string &op) const
    {
        const dialect::OpInfo *const info = m_dialect.findOp(op);
        return info ? info->name : op;
    }

    void dropMoves(const std::string &op)
    {
        std::erase_if(m_policy.moves, [&](const Move &move) { return canonical(move.op) == op; });
    }

    Result<void> addInt8(const std::vector<std::string> &ops)
    {
        std::vector<std::string> now = m_policy.int8Ops.value_or(std::vector<std::string>());
        for (const std::string &op : ops) {
            const std::string name = canonical(op);
            if (!hasInt8Form(m_dialect, name))
                return badInput("int8_ops", inQuotes(op), "an operator with an int8 form");
            if (std::ranges::none_of(now, [&](const std::string &one) { return canonical(one) == name; }))
                now.push_back(name);
        }
        m_policy.int8Ops = std::move(now);
        return {};
    }

    void dropInt8(const std::vector<std::string> &ops)
    {
        if (!m_policy.int8Ops)
            return;
        for (const std::string &op : ops)
            takeOut(m_policy.int8Ops, {}, canonical(op));
        if (m_policy.int8Ops->empty())
            m_policy.int8Ops.reset();
    }

    void takeOut(Names &given, const std::vector<std::string> &builtIn, const std::string &op) const
    {
        const auto isOp = [&](const std::string &name) { return canonical(name) == op; };
        const std::vector<std::string> &now = given ? *given : builtIn;
        if (std::ranges::none_of(now, isOp))
            return;
        std::vector<std::string> rest = now;
        std::erase_if(rest, isOp);
        given = std::move(rest);
    }

    static Result<void> compiles(const std::string &name)
    {
        const auto pattern = Pattern::compile(std::string_view(name).substr(1, name.size() - 2));
        if (pattern.ok())
            return {};
        Error error = pattern.error();
        error.where = entryText("excluded_sym_names", name) + ' ' + error.where;
        return error;
    }

    Policy m_policy;
    const dialect::Dialect &m_dialect;
};

struct Describer
{
    std::string operator()(const MoveOperators &edit) const
    {
        return someOf(edit.ops, "operators") + " to " + std::string(shortName(edit.to));
    }
    std::string operator()(const SetConditions &edit) const
    {
        return (edit.rules.empty() ? "No conditions for " : "Conditions for ") + edit.op;
    }
    std::string operator()(const ExcludeNames &edit) const
    {
        return "Exclude " + someOf(edit.names, "nodes");
    }
    std::string operator()(const IncludeNames &edit) const
    {
        return "No longer exclude " + someOf(edit.names, "nodes");
    }
    std::string operator()(const OverrideNodes &edit) const
    {
        return someOf(edit.nodes, "nodes")
            + (edit.type ? " to " + std::string(nameOf(*edit.type)) : std::string(" to follow the lists"));
    }
    std::string operator()(const SetTarget &edit) const
    {
        return "Set Target to " + std::string(nameOf(edit.target));
    }
    std::string operator()(const SetMode &edit) const
    {
        return "Set Mode to " + std::string(nameOf(edit.mode));
    }
    std::string operator()(const SetListVersion &edit) const { return "Use Lists " + edit.version; }
    std::string operator()(const SetCastParams &edit) const
    {
        return edit.on ? "Store Parameters in 16 Bit" : "Store Parameters as They Are";
    }
    std::string operator()(const SetThresholds &edit) const
    {
        return "Threshold of " + someOf(edit.tensors, "tensors")
            + (!edit.choice             ? std::string(" to the default")
                   : edit.choice->value ? " to " + shortNumber(*edit.choice->value)
                                        : " by " + std::string(nameOf(edit.choice->method)));
    }
    std::string operator()(const SetThresholdMethod &edit) const
    {
        return "Thresholds by " + std::string(nameOf(edit.method));
    }
    std::string operator()(const ReplacePolicy &edit) const { return edit.what; }
};

} // namespace

Result<Policy> applyEdit(const Policy &policy, const Edit &edit, const dialect::Dialect &dialect)
{
    Editor editor(policy, dialect);
    HALFTONE_CHECK(std::visit(editor, edit));
    return editor.take();
}

std::string describe(const Edit &edit)
{
    return std::visit(Describer(), edit);
}

} // namespace halftone::policy
