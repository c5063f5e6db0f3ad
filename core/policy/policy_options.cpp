#include "core/policy/policy_options.h"

#include "core/base/text.h"
#include "core/dialect/registry.h"
#include "core/policy/policy_fields.h"
#include "core/policy/weight_choice.h"
#include "core/policy/wording.h"

#include <algorithm>
#include <utility>

namespace halftone::policy {
namespace {

Result<void> setWord(Policy &policy, std::string_view key, Field field, std::string_view text)
{
    const auto fields = policyFields();
    const auto &word = std::get<PolicyField::Word>(std::ranges::find(fields, key, &PolicyField::key)->member);
    if (!word.set(policy, text))
        return badCall(field, inQuotes(text), std::string(word.allowedWords()));
    return {};
}

Result<std::pair<std::string, tensor::DType>> nameAndType(Field field, std::string_view text)
{
    const std::size_t split = text.rfind('=');
    if (split == std::string_view::npos || split == 0)
        return badCall(field, inQuotes(text), "NAME=DTYPE");
    const std::string_view typeName = text.substr(split + 1);
    const std::optional<tensor::DType> type = tensor::dtypeNamed(typeName);
    if (!type)
        return badCall(field, "unknown type " + inQuotes(typeName) + " in " + inQuotes(text),
                       "an element type, such as float16 or int32");
    return std::pair(std::string(text.substr(0, split)), *type);
}

/// Splits at the commas that stand in no brackets.
std::vector<std::string> splitValues(std::string_view text)
{
    std::vector<std::string> values;
    std::size_t start = 0;
    int open = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char sign = i < text.size() ? text[i] : ',';
        open += sign == '(' || sign == '[' ? 1 : sign == ')' || sign == ']' ? -1 : 0;
        if (i == text.size() || (sign == ',' && open == 0)) {
            values.emplace_back(trimmed(text.substr(start, i - start)));
            start = i + 1;
        }
    }
    return values;
}

} // namespace

Result<void> setTarget(Policy &policy, std::string_view text)
{
    return setWord(policy, "target_dtype", Field::Target, text);
}

Result<void> setMode(Policy &policy, std::string_view text)
{
    return setWord(policy, "mode", Field::Mode, text);
}

void setListVersion(Policy &policy, std::string_view version)
{
    const bool isDefault
        = std::ranges::any_of(dialect::allDialects(), [version](const dialect::Dialect *one) {
              return !one->listVersions().empty() && one->listVersions().front() == version;
          });
    policy.listVersion = isDefault ? std::string_view() : version;
}

Result<void> setHardware(Policy &policy, std::string_view text)
{
    return setWord(policy, "hardware", Field::Hardware, text);
}

Result<void> setAccumulate(Policy &policy, std::string_view text)
{
    return setWord(policy, "accumulate", Field::Accumulate, text);
}

Result<void> setOptimise(Policy &policy, std::string_view text)
{
    return setWord(policy, "optimise", Field::Optimise, text);
}

Result<void> addWeights(Policy &policy, const WeightTexts &texts)
{
    Policy changed = policy;
    for (const std::string &text : texts.rules) {
        auto rule = weightRuleIn(text);
        if (!rule.ok())
            return badCall(Field::Weights, inQuotes(text), rule.error().expected);
        changed.weights.push_back(std::move(rule).value());
    }
    if (!texts.method.empty())
        HALFTONE_CHECK(setWord(changed, "weight_method", Field::WeightMethod, texts.method));
    if (!texts.form.empty())
        HALFTONE_CHECK(setWord(changed, "weight_form", Field::WeightForm, texts.form));
    if (changed.weights.empty() && (!texts.method.empty() || !texts.form.empty()))
        return badCall(texts.method.empty() ? Field::WeightForm : Field::WeightMethod,
                       "concerns weights in blocks, and no format is given for them", "; pass weights too");
    policy = std::move(changed);
    return {};
}

Result<tensor::DType> accumulatorNamed(std::string_view text)
{
    Policy policy;
    if (!text.empty())
        HALFTONE_CHECK(setAccumulate(policy, text));
    return policy.accumulate.value_or(tensor::DType::Unknown);
}

Result<void> addConditional(Policy &policy, std::string_view text)
{
    const std::size_t colon = text.find(':');
    const std::size_t equals = colon == std::string_view::npos ? colon : text.find('=', colon);
    if (equals == std::string_view::npos || colon == 0 || equals == colon + 1)
        return badCall(Field::Conditional, inQuotes(text), "OP:ATTR=V1,V2");
    std::vector<std::string> values = splitValues(text.substr(equals + 1));
    if (std::ranges::find(values, std::string()) != values.end())
        return badCall(Field::Conditional, "an empty value in " + inQuotes(text), "OP:ATTR=V1,V2");
    policy.addedConditions.push_back({std::string(text.substr(0, colon)),
                                      std::string(text.substr(colon + 1, equals - colon - 1)),
                                      std::move(values)});
    return {};
}

Result<void> addOverride(Policy &policy, std::string_view text)
{
    HALFTONE_TRY(auto entry, nameAndType(Field::Override, text));
    policy.nodeOverrides.insert_or_assign(std::move(entry.first), entry.second);
    return {};
}

Result<void> addInputDtype(Policy &policy, std::string_view text)
{
    HALFTONE_TRY(auto entry, nameAndType(Field::InputType, text));
    policy.inputDtypes.insert_or_assign(std::move(entry.first), entry.second);
    return {};
}

Result<void> addMove(Policy &policy, std::string_view op, Policy::Move::To to)
{
    if (op.empty())
        return badCall(fieldOf(to), "an empty name", "an operator");
    policy.moves.push_back({std::string(op), to});
    return {};
}

Result<void> addExcluded(Policy &policy, std::string_view name)
{
    if (name.empty())
        return badCall(Field::Exclude, "an empty name", "a node's name or /pattern/");
    policy.excludedNames.emplace_back(name);
    return {};
}

void setTarget(Policy &policy, tensor::DType type)
{
    const bool isExported = tensor::isHalf(type);
    policy.target = isExported ? type : tensor::DType::F16;
    policy.analysedFormat = isExported ? std::nullopt : std::optional(type);
}

tensor::DType askedTarget(const Policy &policy)
{
    return policy.analysedFormat.value_or(policy.target);
}

Error notExported(tensor::DType format)
{
    return unsupported(Field::Target,
                       std::string(nameOf(format)) + " can only be analysed; no model format supports it",
                       "float16 or bfloat16; 'compare' shows the errors of other formats");
}

void addInt8(Policy &policy, const std::string &op)
{
    if (!policy.int8Ops)
        policy.int8Ops.emplace();
    if (std::ranges::find(*policy.int8Ops, op) == policy.int8Ops->end())
        policy.int8Ops->push_back(op);
}

} // namespace halftone::policy
