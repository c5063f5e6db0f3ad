#pragma once

#include "core/base/result.h"
#include "core/dialect/quantized_forms.h"
#include "core/graph/model.h"
#include "core/policy/rules.h"
#include "core/rewrite/conversion.h"
#include "core/tensor/form_cache.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::quantize {

/// Which family of int8 operators is written, in formats that have several (core/quantize/RULES.md, Q-plain, Q-fused).
enum class QuantizedForm : std::uint8_t
{
    Onednn, ///< fused: what quantize_model_mkldnn gives
    Plain, ///< one operator for one: what quantize_model gives
};

enum class QuantizedCodes : std::uint8_t
{
    Int8,
    UInt8,
    Auto ///< uint8 where the calibrated range begins at 0 or above
};

struct QuantizeOptions
{
    QuantizedForm form = QuantizedForm::Onednn;
    QuantizedCodes codes = QuantizedCodes::Auto;
    /// Everything that can be; otherwise convolutions and fully connected layers, and what lies between two of those.
    bool isFull = false;
    /// Weights of fully connected layers, those of fused convolutions always are; where values go through pairs all weights.
    bool perChannel = false;
    /// Where values go through pairs: products between them become operators on codes, as far as there are such.
    bool asOperators = false;
    bool isCalibrated = true; ///< false: ranges are found at run time, from every batch anew
    /// Ranges are widened so that the runtime's 127.5 and 255.5 levels become 127 and 255.
    bool isNeutral = false;
    std::vector<std::string> excludedNames; ///< nodes; a node inside a fused one excludes the whole
    std::vector<std::string> excludedOps;
    std::vector<std::string> quantizedOps; ///< only these; empty: all that have an int8 form
    /// By NodeId of the given graph: only these, whatever their operators, and what is fused with them; empty: all.
    std::vector<bool> asked;
    /// By NodeId of the given graph: of what is computed with codes there, what is no longer to be; empty: none.
    std::vector<bool> released;
    /// By NodeId of the given graph: why it must not compute with codes (of what is fused, the first node's counts), or nothing;
    /// empty: all may.
    std::vector<std::string> refusals;
    /// By NodeId of the given graph: these are not fused with others; empty: none.
    std::vector<bool> apart;
};

using QuantizedRange = dialect::CodedRange;
using QuantizedRanges = std::unordered_map<std::string, QuantizedRange>;

/// A tensor whose range the quantized model holds.
struct ObservedTensor
{
    std::string name; ///< in the graph that is quantized: of a fused node where there is one
    std::string source; ///< of the same values in the given graph (Dialect::entryName)

    bool operator==(const ObservedTensor &) const = default;
};

struct SkippedNode
{
    std::string name;
    std::string op;
    std::string why;
    graph::NodeId node = rewrite::kNoNode; ///< in the given graph; of a fused one its first
};

/// Where a node of a quantized graph comes from.
struct QuantizedOrigin
{
    enum class Kind : std::uint8_t
    {
        Copy, ///< a node of the given graph as it was
        Int8, ///< the int8 form of nodes
        Quantize,
        Requantize,
        Dequantize,
        Codes ///< a variable of a parameter's codes or of their range
    };
    Kind kind = Kind::Copy;
    /// In the given graph, in order: the nodes that it stands for; of the other kinds the one whose value it converts, for a
    /// fused one all of that.
    std::vector<graph::NodeId> nodes;
    std::uint32_t output = 0; ///< of Quantize and Dequantize: which output of the last node
    std::vector<rewrite::Reader>
        reads; ///< of Copy and Int8, by input as far as they are values: inputs of the given graph's nodes
};

struct QuantizedThreshold
{
    ObservedTensor tensor;
    QuantizedRange range;
};

struct QuantizedModel
{
    graph::Model model;
    std::vector<std::string> quantized; ///< nodes of the source (or fused ones) that have int8 forms now
    std::vector<SkippedNode> skipped;
    std::vector<QuantizedThreshold> thresholds;
    std::vector<std::string> notes;
    std::vector<policy::Warning> warnings; ///< nodes that MXNet refuses, or computes otherwise than they say
    std::vector<QuantizedOrigin> origins; ///< by NodeId of `model`
    std::vector<rewrite::MergedNode>
        dropped; ///< identities of the given graph that are gone, into what they pass on
};

/// Can int8 be written in the graph's format? fails: Unsupported where it cannot
Result<void> checkQuantizable(const graph::Graph &graph);

struct QuantizationPlan;

/// What a quantization comes to before any range is known.
struct PlannedQuantization
{
    /// The tensors whose ranges quantize() will ask for, in the graph's order; parameters' ranges it finds itself.
    std::vector<ObservedTensor> observed;
    std::shared_ptr<const QuantizationPlan> plan; ///< good as long as the model
};

/// fails: as quantize()
Result<PlannedQuantization> planQuantization(const graph::Model &model, const QuantizeOptions &options);

/// What quantize() need not do again.
struct KnownParts
{
    const QuantizationPlan *plan = nullptr; ///< by planQuantization() for the same model and options
    tensor::FormCache *forms = nullptr; ///< codes of parameters; gets those that are new
};

/// Where the format writes int8 in pairs (dialect::CodedPairs), as Q-pairs says. Else a float32 model as MXNet 1.9.1's quantization writes it: same names, operators, attributes and wiring, weights and
/// biases quantized in the parameters, ranges in the symbol. Left out of MXNet's ways are its defects: a range that begins
/// at zero stays one-sided for a fused ReLU, fully connected layers with other readers are not fused, ranges that six
/// digits behind the point would lose are written with nine significant ones. What MXNet's own kernels would not compute as
/// the graph says is written another way: a sum of an int8 addend that a ReLU follows uses half of uint8's codes, one of a
/// uint8 addend that none follows stays a node of its own, a product becomes codes by a node of its own, activations that
/// it spoils are not fused, data below zero are int8, and what it refuses stays real. What remains is told in `warnings`.
/// ranges  by ObservedTensor::source; a tensor without one is left to the run time, with a note
/// known   what was made before and is not made again
/// fails   BadInput for a model without parameters, a parameter that is not float32, an attribute that does not read;
///         BadCall for an excluded name or operator that is none naming the setting
Result<QuantizedModel> quantize(const graph::Model &model, const QuantizeOptions &options,
                                const QuantizedRanges &ranges, const KnownParts &known = {});

} // namespace halftone::quantize
