#include "core/policy/condition_check.h"

#include "core/base/text.h"
#include "core/policy/wording.h"

namespace halftone::policy {
namespace {

using dialect::AttributeSpec;
using dialect::AttributeType;

std::string_view form(AttributeType type)
{
    switch (type) {
    case AttributeType::Integer:
        return "an integer";
    case AttributeType::Real:
        return "a number";
    case AttributeType::Boolean:
        return "True or False";
    default:
        return "a list of numbers";
    }
}

/// ": it has relu, tanh", or what such a value looks like.
std::string expectedValues(const AttributeSpec &spec, std::string_view value)
{
    if (spec.type != AttributeType::Enum)
        return ", expected " + std::string(form(spec.type));
    const std::vector<std::string_view> names(spec.values.begin(), spec.values.end());
    return didYouMean(nearestNames(value, names)) + ", expected one of " + joined(spec.values);
}

} // namespace

Result<void> checkCondition(const dialect::Dialect &dialect, const dialect::OpInfo &op,
                            const ConditionalRule &rule, const std::string &where,
                            std::vector<Warning> &warnings)
{
    const AttributeSpec *const spec = op.attribute(rule.attribute);
    if (!spec) {
        std::vector<std::string> names;
        for (const AttributeSpec &one : op.attributes)
            names.push_back(one.name);
        const std::vector<std::string_view> views(names.begin(), names.end());
        return badInput(where,
                        op.name + " has no attribute " + inQuotes(rule.attribute)
                            + didYouMean(nearestNames(rule.attribute, views)),
                        names.empty() ? "an operator that has attributes"
                                      : "one of " + joined(names, names.size()));
    }
    const std::string entry = entryText(nameOf(List::Conditional), rule.op);
    if (rule.values.empty())
        warnings.push_back({entry, rule.attribute + " has no values: the condition never holds"});
    for (const std::string &value : rule.values) {
        if (!dialect.isValue(*spec, value))
            warnings.push_back(
                {entry, rule.attribute + " is never " + inQuotes(value) + expectedValues(*spec, value)});
    }
    return {};
}

} // namespace halftone::policy
