#pragma once

#include "halftone/open.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

enum class Mode : std::uint8_t
{
    Typed, ///< cast only where types differ
    NodeForNode, ///< "mxnet": MXNet models only, node for node as MXNet 1.9.1, with its defects fixed
    Tvm, ///< the rules of TVM's pass
    All, ///< lower every operator that supports the target type
};

/// What mode Typed minimises.
enum class Optimise : std::uint8_t
{
    Casts, ///< the bytes that casts move
    Time, ///< the time estimated from the rates of the chip, Policy::hardware
};

/// How the int8 range of a tensor is chosen.
enum class ThresholdMethod : std::uint8_t
{
    MinMax,
    Entropy,
    Percentile,
    Mse,
};

/// Which operators compute in which type: the built-in lists or those of a file, and changes to them. Operators have the names
/// of the model's format.
struct Policy
{
    std::string file; ///< policy file to start from; empty: the built-in lists
    std::string text; ///< the text of such a file, in place of `file`; empty: none
    std::optional<Type>
        target; ///< Float16 or BFloat16, for compare() also Float8E4M3FN, Float8E5M2, TensorFloat32, Posit16; absent: as in the file, otherwise Float16
    std::optional<Mode> mode; ///< absent: as in the file, otherwise Typed
    std::string
        hardware; ///< a chip that hardwareReport() lists, "this", "this-gpu" or a file: only what it has units for is lowered; empty: as in the file
    std::optional<Type>
        accumulate; ///< accumulator of products: Float32, Float16 or BFloat16; absent: as in the file
    std::optional<Optimise> optimise; ///< absent: as in the file, otherwise Casts
    std::string listVersion; ///< of MXNet's lists: "1.9.1", "2.0.0b1", "master"; empty: as in the file
    std::vector<std::string> toTarget; ///< operators to move to the target list
    std::vector<std::string> toFloat32;
    std::vector<std::string> toWidest; ///< operators to compute in the widest type of their inputs
    std::vector<std::string> toNeutral; ///< operators to compute in the type of their inputs
    std::vector<std::string> toInt8; ///< operators to compute in int8 where supported
    std::vector<std::string>
        conditional; ///< "OP:ATTR=V1,V2": float32 where an attribute has one of these values
    std::vector<std::string> excluded; ///< nodes that stay in float32, by name or /pattern/
    std::map<std::string, Type> overrides; ///< types of nodes, by name or pattern /…/: Float32, the target type or Int8
    std::map<std::string, Type> inputTypes; ///< by input name
    std::optional<bool>
        castParameters; ///< store parameters in the target type if all their readers use it; absent: as in the file, otherwise only for ONNX
    std::optional<bool>
        keepIoTypes; ///< keep the types of inputs and outputs; absent: as in the file, otherwise yes
    std::optional<bool>
        clamp; ///< parameters beyond float16's range become its largest value instead of infinite; absent: as in the file, otherwise only for ONNX
    std::optional<bool> shareNodes; ///< merge nodes that compute the same value; absent: only in mode Typed
    std::optional<ThresholdMethod>
        thresholds; ///< for int8; absent: as in the file, otherwise Mse, or MinMax where that gives smaller errors
};

/// The policy as the text of a policy file. fails: BadInput for an invalid file; BadCall for a value that policies do not support
Result<std::string> policyText(const Policy &policy);

struct BuiltInLists
{
    std::vector<std::string> target;
    std::vector<std::string> float32;
    std::vector<std::string> widest;
    std::vector<std::string> neutral;
};
/// The built-in lists of a target type for models of a format: "onnx" or "mxnet", if the build has it.
/// version  of MXNet's lists; empty: the first
/// fails: BadInput unless the type is Float16 or BFloat16; BadCall for an unknown format
Result<BuiltInLists> builtInLists(Type target, const std::string &format = "onnx",
                                  const std::string &version = {});
/// The same as JSON: what `lists --json` prints.
Result<std::string> listsReport(Type target, const std::string &format = "onnx",
                                const std::string &version = {});

/// The lists of another program as a policy: what `policy --json` prints {from, policy, unmatched, notes, written}.
/// from   "onnxconverter", "modelopt", "tensorflow" or "tvm"
/// lists  JSON, Python (nothing is executed) or a command line
/// fails: BadCall for an unknown program; BadInput for text that is none of these
Result<std::string> importedPolicy(const std::string &from, const std::string &lists);

} // namespace halftone::api
