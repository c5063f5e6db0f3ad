#pragma once

#include "core/policy/threshold_choice.h"
#include "core/policy/weight_rule.h"
#include "core/tensor/dtype.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::policy {

enum class Mode : std::uint8_t
{
    Typed,
    NodeForNode, ///< as the framework of the model's format does, where it has such a conversion (dialect::OwnMode)
    Tvm, ///< by the rules of TVM's pass ToMixedPrecision (core/mixed/RULES.md, section 6)
    All ///< every operator whose types allow it computes in the target type
};
/// What mode typed minimises (core/mixed/RULES.md, M-typed-cut).
enum class Optimise : std::uint8_t
{
    Casts, ///< the bytes that casts read and write
    Time ///< the time estimated for a chip, from described or measured rates
};
std::string_view nameOf(Optimise optimise); ///< "casts", "time"

inline constexpr std::array kAllModes{Mode::Typed, Mode::NodeForNode, Mode::Tvm, Mode::All};
std::string_view nameOf(Mode mode); ///< "typed", "tvm", "all", or as its format calls it
std::string_view meaningOf(Mode mode); ///< "cast only where types differ", …
std::vector<Mode> offeredModes(); ///< those that a format of this build has
std::string modesHelp(); ///< of these: "typed: cast only where types differ; tvm: …"
std::optional<Mode> modeNamed(std::string_view name);
/// Which variables are data. All others are parameters, which a conversion may store in another type (core/mixed/RULES.md, M-variables).
enum class DataRule : std::uint8_t
{
    WithoutValues, ///< those that no values are stored for
    WithoutType ///< those that declare no type
};

/// "Keep this operator in fp32 when this attribute has one of these values."
struct ConditionalRule
{
    std::string op;
    std::string attribute;
    std::vector<std::string> values;

    bool operator==(const ConditionalRule &) const = default;
};

/// The settings of a user, exactly as in a policy file or on the command line (app/README.md, "Policy").
/// Nothing is checked or completed here: an absent list means the built-in one. A value type: an edit makes a new policy.
struct Policy
{
    tensor::DType target = tensor::DType::F16;
    /// A format for analysis only (tensor::isForAnalysis): values of the target type are rounded to it to measure the error. The
    /// target is then float16, whose lists and rules apply. Such a conversion cannot be written.
    std::optional<tensor::DType> analysedFormat;
    std::optional<Mode> mode;
    std::optional<DataRule> dataRule; ///< absent: WithoutValues if the model has parameters
    std::string
        listVersion; ///< of the built-in lists (Dialect::listVersions()); empty: the first of the format

    /// The chip to convert for: a name, "this" or a file (hardware::findDescription()); empty: none.
    std::string hardware;
    /// The accumulator requested for products: float32 or a 16-bit type; absent: the best of the hardware, otherwise float32.
    std::optional<tensor::DType> accumulate;
    std::optional<Optimise> optimise; ///< absent: casts; Time needs `hardware`

    std::optional<std::vector<std::string>> targetOps;
    std::optional<std::vector<std::string>> fp32Ops;
    std::optional<std::vector<std::string>> widestOps;
    std::optional<std::vector<ConditionalRule>> conditionalOps;
    std::vector<std::string> excludedNames; ///< exact node names, or patterns written /…/

    /// Moves of single operators, applied after the lists in this order: the operator leaves its previous list.
    struct Move
    {
        std::string op;
        enum class To : std::uint8_t { Target, Fp32, Widest, Neutral } to = To::Target;
        bool operator==(const Move &) const = default;
    };
    std::vector<Move> moves;
    /// Conditional rules added to the conditional list in force, before the moves.
    std::vector<ConditionalRule> addedConditions;

    std::map<std::string, tensor::DType> nodeOverrides; ///< by exact node name, or pattern written /…/
    /// By node: the reason for its type, as found by tune: "float32: lowering it costs 4.1 dB for 0.020 ms". Marks overrides made by a
    /// search instead of the user; has no effect on the conversion.
    std::map<std::string, std::string> reasons;
    std::map<std::string, tensor::DType> inputDtypes;
    std::optional<std::vector<std::string>> dataNames;
    /// Operators that compute in int8 where supported; elsewhere the lists above apply. Absent: none in a conversion, all operators
    /// with an int8 form in a quantization of the whole model.
    std::optional<std::vector<std::string>> int8Ops;
    std::optional<ThresholdMethod> thresholdMethod; ///< of int8 ranges; absent: kDefaultThresholdMethod
    std::map<std::string, ThresholdChoice> thresholds; ///< by tensor name (CalibratedTensor::name)
    std::optional<bool>
        castParams; ///< store parameters in the target type if all their readers use it; absent: no
    /// Absent: true. False (mode typed only): inputs have the target type if all their readers use it, and outputs the type
    /// in which they are computed.
    std::optional<bool> keepIoTypes;
    /// Parameters beyond the range of the target type become its largest value instead of infinite; absent: the default of the format.
    std::optional<bool> clamp;
    /// Formats that weights are stored in, while products compute in the type that the lists say; of those that match a product the last
    /// one holds.
    std::vector<WeightRule> weights;
    std::optional<WeightMethod> weightMethod; ///< absent: the best that needs no data
    std::optional<WeightForm> weightForm; ///< absent: operators on codes where there is one, else pairs
    std::optional<bool> share; ///< merge nodes that compute the same value; absent: only in mode typed

    bool operator==(const Policy &) const = default;
};

} // namespace halftone::policy
