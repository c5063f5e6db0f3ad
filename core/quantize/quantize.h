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

/// The family of int8 operators to write, for formats with several (core/quantize/RULES.md, Q-plain, Q-fused).
enum class QuantizedForm : std::uint8_t
{
    Onednn, ///< fused operators, as quantize_model_mkldnn writes them
    Plain, ///< one int8 operator per operator, as quantize_model writes them
};

enum class QuantizedCodes : std::uint8_t
{
    Int8,
    UInt8,
    Auto ///< uint8 if the calibrated range has no negative values
};

struct QuantizeOptions
{
    QuantizedForm form = QuantizedForm::Onednn;
    QuantizedCodes codes = QuantizedCodes::Auto;
    /// Quantize every supported operator; otherwise convolutions, fully connected layers and operators between two of these.
    bool isFull = false;
    /// Scales per channel for fully connected layers (fused convolutions always use them); with QDQ pairs for all weights.
    bool perChannel = false;
    /// With QDQ pairs: products between them become integer operators where available.
    bool asOperators = false;
    bool keepsBiases = false; ///< with QDQ pairs: biases stay real, for runtimes that read no codes of 32 bits
    bool isCalibrated = true; ///< false: ranges are determined at run time for every batch
    /// Ranges are widened so that the 127.5 and 255.5 levels of the runtime become 127 and 255.
    bool isNeutral = false;
    std::vector<std::string>
        excludedNames; ///< node names; a node inside a fused one excludes the whole group
    std::vector<std::string> excludedOps;
    std::vector<std::string> quantizedOps; ///< only these; empty: all operators with an int8 form
    /// By NodeId of the given graph: only these nodes, and nodes fused with them; empty: all.
    std::vector<bool> asked;
    /// By NodeId of the given graph: int8 nodes to convert back to floating point; empty: none.
    std::vector<bool> released;
    /// By NodeId of the given graph: why a node must not compute in int8 (for fused nodes, that of the first), or empty;
    /// empty vector: all may.
    std::vector<std::string> refusals;
    /// By NodeId of the given graph: these are not fused with others; empty: none.
    std::vector<bool> apart;
};

using QuantizedRange = dialect::CodedRange;
using QuantizedRanges = std::unordered_map<std::string, QuantizedRange>;

/// A tensor whose range is stored in the quantized model.
struct ObservedTensor
{
    std::string name; ///< in the graph to quantize; for fused nodes that of the fused one
    std::string source; ///< the same tensor in the given graph (Dialect::entryName)

    bool operator==(const ObservedTensor &) const = default;
};

struct SkippedNode
{
    std::string name;
    std::string op;
    std::string why;
    graph::NodeId node = rewrite::kNoNode; ///< in the given graph; for fused nodes the first
};

/// The origin of a node of the quantized graph.
struct QuantizedOrigin
{
    enum class Kind : std::uint8_t
    {
        Copy, ///< an unchanged node of the given graph
        Int8, ///< the int8 form of one or more nodes
        Quantize,
        Requantize,
        Dequantize,
        Codes ///< a variable with the codes of a parameter or their range
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
    std::vector<std::string> quantized; ///< nodes of the source (or fused ones) that are in int8 now
    std::vector<SkippedNode> skipped;
    std::vector<QuantizedThreshold> thresholds;
    std::vector<std::string> notes;
    std::vector<policy::Warning> warnings; ///< nodes that MXNet rejects or computes differently
    std::vector<QuantizedOrigin> origins; ///< by NodeId of `model`
    std::vector<rewrite::MergedNode>
        dropped; ///< removed identities of the given graph, with the nodes that replace them
};

/// Checks that the format of the graph supports int8. fails: Unsupported if it does not
Result<void> checkQuantizable(const graph::Graph &graph);

struct QuantizationPlan;

/// A quantization planned before ranges are known.
struct PlannedQuantization
{
    /// The tensors whose ranges quantize() needs, in the order of the graph. Ranges of parameters are computed by quantize().
    std::vector<ObservedTensor> observed;
    std::shared_ptr<const QuantizationPlan> plan; ///< valid as long as the model
};

/// fails: as quantize()
Result<PlannedQuantization> planQuantization(const graph::Model &model, const QuantizeOptions &options);

/// Results of earlier calls that quantize() can reuse.
struct KnownParts
{
    const QuantizationPlan *plan = nullptr; ///< from planQuantization() for the same model and options
    tensor::FormCache *forms = nullptr; ///< codes of parameters; new ones are added
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
