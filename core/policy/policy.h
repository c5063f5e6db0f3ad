#pragma once

#include "core/policy/threshold_choice.h"
#include "core/tensor/dtype.h"

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
    Mxnet,
    Tvm, ///< by the rules of TVM's pass ToMixedPrecision (core/mixed/RULES.md, section 6)
    All ///< every operator whose types allow it computes in the target type
};
/// What mode typed makes least (core/mixed/RULES.md, M-typed-cut).
enum class Optimise : std::uint8_t
{
    Casts, ///< the bytes that casts read and write
    Time ///< the time that a chip takes, by the rates of its description or those that were measured
};
std::string_view nameOf(Optimise optimise); ///< "casts", "time"

std::string_view nameOf(Mode mode); ///< "typed", "mxnet", "tvm", "all"
std::optional<Mode> modeNamed(std::string_view name);
/// Which of MXNet's two calls is meant: convert_model sets `__dtype__` marks on parameters
/// (core/mixed/RULES.md, M-marks).
enum class Api : std::uint8_t
{
    ConvertModel,
    ConvertSymbol
};

/// "Keep this operator in fp32 when this attribute has one of these values."
struct ConditionalRule
{
    std::string op;
    std::string attribute;
    std::vector<std::string> values;

    bool operator==(const ConditionalRule &) const = default;
};

/// What a person tuned, exactly as a policy file and the command line say it (app/README.md, "Policy").
/// Nothing is checked or filled in here: an absent list means the built-in one. A value: an edit makes a new one.
struct Policy
{
    tensor::DType target = tensor::DType::F16;
    /// A format that no file's operators know (tensor::isForAnalysis), in which values of the target type are held to see what that
    /// costs; the target is then float16, whose lists and rules hold. Nothing is written of such a conversion.
    std::optional<tensor::DType> analysedFormat;
    std::optional<Mode> mode;
    std::optional<Api> api;
    std::string listVersion = "1.9.1"; ///< whose built-in lists: "1.9.1", "2.0.0b1", "master"

    /// The chip whose description decides what is lowered: a name, "this" or a file (hardware::findDescription()); empty: none.
    std::string hardware;
    /// The accumulator of products that is asked for: float32 or a 16-bit type; absent: the hardware's best, else float32.
    std::optional<tensor::DType> accumulate;
    std::optional<Optimise> optimise; ///< absent: casts; Time needs `hardware`

    std::optional<std::vector<std::string>> targetOps;
    std::optional<std::vector<std::string>> fp32Ops;
    std::optional<std::vector<std::string>> widestOps;
    std::optional<std::vector<ConditionalRule>> conditionalOps;
    std::vector<std::string> excludedNames; ///< exact node names, or patterns written /…/

    /// Single moves, applied after the lists in this order: the operator leaves the list it is in.
    struct Move
    {
        std::string op;
        enum class To : std::uint8_t { Target, Fp32, Widest, Neutral } to = To::Target;
        bool operator==(const Move &) const = default;
    };
    std::vector<Move> moves;
    /// Conditional rules added one by one to whichever conditional list is in force, before
    /// the moves.
    std::vector<ConditionalRule> addedConditions;

    std::map<std::string, tensor::DType> nodeOverrides;
    /// By node: why it computes in what it does, where a search found that out (tune): "float32: lowering it costs 4.1 dB for 0.020 ms".
    /// Overrides of these nodes are the search's, not a person's. Decides nothing.
    std::map<std::string, std::string> reasons;
    std::map<std::string, tensor::DType> inputDtypes;
    std::optional<std::vector<std::string>> dataNames;
    /// Operators that compute in int8 where they can; what stands in the lists above holds where they cannot. Absent: in a
    /// conversion none, in a quantization of the whole model all that have an int8 form.
    std::optional<std::vector<std::string>> int8Ops;
    std::optional<ThresholdMethod> thresholdMethod; ///< of int8 ranges; absent: kDefaultThresholdMethod
    std::map<std::string, ThresholdChoice> thresholds; ///< by tensor, as CalibratedTensor::name has it
    std::optional<bool>
        castParams; ///< store parameters in the target type where all their readers want it; absent: no
    /// Absent: true. False (mode typed only): data that all their readers want in the target type come in it, and outputs
    /// come as they are computed.
    std::optional<bool> keepIoTypes;
    /// Parameters beyond the target type's range become its largest value, not infinite; absent: as the format has it.
    std::optional<bool> clamp;
    std::optional<bool> share; ///< merge nodes that compute the same; absent: in mode typed

    bool operator==(const Policy &) const = default;
};

} // namespace halftone::policy
