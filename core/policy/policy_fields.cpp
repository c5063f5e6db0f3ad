#include "core/policy/policy_fields.h"

#include "core/dialect/registry.h"
#include "core/policy/op_lists.h"
#include "core/policy/policy_options.h"
#include "core/policy/weight_choice.h"

#include <algorithm>
#include <array>

namespace halftone::policy {
namespace {

using Word = PolicyField::Word;

/// Of the format that has one; without a meaning in a build without it.
dialect::OwnMode ownMode()
{
    for (const dialect::Dialect *format : dialect::allDialects()) {
        if (format->hasNodeForNodeMode())
            return format->nodeForNodeMode();
    }
    return {"node-for-node", {}};
}

/// "typed, tvm or all"
std::string_view modeNames()
{
    static const std::string kNames = [] {
        std::vector<std::string_view> names;
        for (const Mode mode : offeredModes())
            names.push_back(nameOf(mode));
        return alternatives(names);
    }();
    return kNames;
}

constexpr Word kTarget{
    [](Policy &policy, std::string_view word) {
        const std::optional<tensor::DType> type = tensor::dtypeNamed(word);
        if (!type || !(tensor::isHalf(*type) || tensor::isForAnalysis(*type)))
            return false;
        setTarget(policy, *type);
        return true;
    },
    [](const Policy &policy) { return nameOf(askedTarget(policy)); },
    "float16 or bfloat16, or for compare float8_e4m3fn, float8_e5m2, tf32 or posit16",
};

constexpr Word kMode{
    [](Policy &policy, std::string_view word) {
        const auto mode = modeNamed(word);
        if (mode)
            policy.mode = mode;
        return mode.has_value();
    },
    [](const Policy &policy) { return policy.mode ? nameOf(*policy.mode) : std::string_view(); },
    {},
    modeNames,
};

/// "convert_model or convert_symbol"
std::string_view callNames()
{
    static const std::string kNames = alternatives(ownMode().calls);
    return kNames;
}

constexpr Word kApi{
    [](Policy &policy, std::string_view word) {
        const auto calls = ownMode().calls;
        const auto at = std::ranges::find(calls, word);
        if (word.empty() || at == calls.end())
            return false;
        policy.dataRule = static_cast<DataRule>(at - calls.begin());
        return true;
    },
    [](const Policy &policy) {
        return policy.dataRule ? ownMode().calls[static_cast<std::size_t>(*policy.dataRule)]
                               : std::string_view();
    },
    {},
    callNames,
};

constexpr Word kHardware{
    [](Policy &policy, std::string_view word) {
        policy.hardware = word;
        return !word.empty();
    },
    [](const Policy &policy) { return std::string_view(policy.hardware); },
    "the name of a chip, \"this\" or a file",
};

constexpr Word kAccumulate{
    [](Policy &policy, std::string_view word) {
        const auto type = tensor::dtypeNamed(word);
        if (!type || (*type != tensor::DType::F32 && !tensor::isHalf(*type)))
            return false;
        policy.accumulate = type;
        return true;
    },
    [](const Policy &policy) {
        return policy.accumulate ? tensor::nameOf(*policy.accumulate) : std::string_view();
    },
    "float32, float16 or bfloat16",
};

constexpr Word kOptimise{
    [](Policy &policy, std::string_view word) {
        for (const Optimise one : {Optimise::Casts, Optimise::Time}) {
            if (word == nameOf(one))
                policy.optimise = one;
        }
        return word == nameOf(Optimise::Casts) || word == nameOf(Optimise::Time);
    },
    [](const Policy &policy) { return policy.optimise ? nameOf(*policy.optimise) : std::string_view(); },
    "casts or time",
};

/// "1.9.1, 2.0.0b1 or master": of the formats that have several
std::string_view listVersionNames()
{
    static const std::string kNames = [] {
        std::vector<std::string_view> names;
        for (const dialect::Dialect *one : dialect::allDialects()) {
            const auto versions = one->listVersions();
            if (versions.size() > 1)
                names.insert(names.end(), versions.begin(), versions.end());
        }
        return alternatives(names);
    }();
    return kNames;
}

constexpr Word kLists{
    [](Policy &policy, std::string_view word) {
        const auto names = [word](const dialect::Dialect *one) {
            return std::ranges::find(one->listVersions(), word) != one->listVersions().end();
        };
        if (std::ranges::none_of(dialect::allDialects(), names))
            return false;
        setListVersion(policy, word);
        return true;
    },
    [](const Policy &policy) { return std::string_view(policy.listVersion); },
    {},
    listVersionNames,
};

constexpr Word kThresholdMethod{
    [](Policy &policy, std::string_view word) {
        policy.thresholdMethod = thresholdMethodNamed(word);
        return policy.thresholdMethod.has_value();
    },
    [](const Policy &policy) {
        return policy.thresholdMethod ? nameOf(*policy.thresholdMethod) : std::string_view();
    },
    kThresholdMethods,
};

constexpr Word kWeightMethod{
    [](Policy &policy, std::string_view word) {
        policy.weightMethod = weightMethodNamed(word);
        return policy.weightMethod.has_value();
    },
    [](const Policy &policy) {
        return policy.weightMethod ? nameOf(*policy.weightMethod) : std::string_view();
    },
    "rtn, mse or gptq",
};

constexpr Word kWeightForm{
    [](Policy &policy, std::string_view word) {
        policy.weightForm = weightFormNamed(word);
        return policy.weightForm.has_value();
    },
    [](const Policy &policy) { return policy.weightForm ? nameOf(*policy.weightForm) : std::string_view(); },
    "qdq or nbits",
};

constexpr std::array kFields{
    PolicyField{"target_dtype", kTarget},
    PolicyField{"mode", kMode},
    PolicyField{"api", kApi},
    PolicyField{"lists", kLists},
    PolicyField{"hardware", kHardware},
    PolicyField{"accumulate", kAccumulate},
    PolicyField{"optimise", kOptimise},
    PolicyField{"target_dtype_ops", &Policy::targetOps},
    PolicyField{"fp32_ops", &Policy::fp32Ops},
    PolicyField{"widest_dtype_ops", &Policy::widestOps},
    PolicyField{"conditional_fp32_ops", &Policy::conditionalOps},
    PolicyField{"added_conditional_fp32_ops", &Policy::addedConditions},
    PolicyField{"moves", &Policy::moves},
    PolicyField{"excluded_sym_names", &Policy::excludedNames},
    PolicyField{"node_overrides", &Policy::nodeOverrides},
    PolicyField{"reasons", &Policy::reasons},
    PolicyField{"input_dtypes", &Policy::inputDtypes},
    PolicyField{"data_names", &Policy::dataNames},
    PolicyField{"cast_optional_params", &Policy::castParams},
    PolicyField{"keep_io_types", &Policy::keepIoTypes},
    PolicyField{"clamp_params", &Policy::clamp},
    PolicyField{"share", &Policy::share},
    PolicyField{"int8_ops", &Policy::int8Ops},
    PolicyField{"threshold_method", kThresholdMethod},
    PolicyField{"thresholds", &Policy::thresholds},
    PolicyField{"weights", &Policy::weights},
    PolicyField{"weight_method", kWeightMethod},
    PolicyField{"weight_form", kWeightForm},
};

} // namespace

std::string alternatives(std::span<const std::string_view> words)
{
    std::string text;
    for (std::size_t k = 0; k < words.size(); ++k)
        text.append(k == 0 ? "" : k + 1 < words.size() ? ", " : " or ").append(words[k]);
    return text;
}

std::string_view nameOf(Mode mode)
{
    constexpr std::array<std::string_view, 4> kNames{"typed", {}, "tvm", "all"};
    return mode == Mode::NodeForNode ? ownMode().name : kNames[static_cast<std::size_t>(mode)];
}

std::string_view meaningOf(Mode mode)
{
    constexpr std::array<std::string_view, 4> kMeanings{"cast only where types differ",
                                                        {},
                                                        "by the rules of TVM's pass",
                                                        "lower every operator that supports it"};
    return mode == Mode::NodeForNode ? ownMode().meaning : kMeanings[static_cast<std::size_t>(mode)];
}

std::vector<Mode> offeredModes()
{
    std::vector<Mode> modes(kAllModes.begin(), kAllModes.end());
    if (ownMode().meaning.empty())
        std::erase(modes, Mode::NodeForNode);
    return modes;
}

std::string modesHelp()
{
    std::string help;
    for (const Mode mode : offeredModes())
        help.append(help.empty() ? "" : "; ").append(nameOf(mode)).append(": ").append(meaningOf(mode));
    return help;
}

std::string_view nameOf(Optimise optimise)
{
    return optimise == Optimise::Time ? "time" : "casts";
}

std::optional<Mode> modeNamed(std::string_view name)
{
    for (const Mode mode : kAllModes) {
        if (nameOf(mode) == name)
            return mode;
    }
    return std::nullopt;
}

std::span<const PolicyField> policyFields()
{
    return kFields;
}

List listOf(Policy::Move::To to)
{
    return to == Policy::Move::To::Target ? List::Target
        : to == Policy::Move::To::Fp32    ? List::Fp32
        : to == Policy::Move::To::Widest  ? List::Widest
                                          : List::Neutral;
}

Field fieldOf(Policy::Move::To to)
{
    return to == Policy::Move::To::Target ? Field::TargetOp
        : to == Policy::Move::To::Fp32    ? Field::Fp32Op
        : to == Policy::Move::To::Widest  ? Field::WidestOp
                                          : Field::NeutralOp;
}

} // namespace halftone::policy
