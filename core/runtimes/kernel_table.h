#pragma once

#include "core/graph/graph.h"
#include "core/infer/typed_model.h"
#include "core/tensor/dtype.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What runtimes have kernels for, known before any of them runs: resources/onnx/runtimes.json, which a script of ours measures with models of
/// one node (tests/bench/measure_runtimes.py).
namespace halftone::runtimes {

/// What a runtime makes of an operator in a type.
struct KernelAnswer
{
    enum class Kind : std::uint8_t
    {
        Unknown, ///< not measured
        Native,
        Otherwise, ///< computes in `type`, between casts
        Refused
    };
    Kind kind = Kind::Unknown;
    tensor::DType type = tensor::DType::Unknown;

    /// Is it known not to compute in the type that was asked for?
    bool isMissing() const { return kind == Kind::Otherwise || kind == Kind::Refused; }
    bool isRefused() const { return kind == Kind::Refused; }
};

/// One runtime at the version that was measured, or documented.
struct KernelTable
{
    std::string name; ///< "ort", "openvino", "tensorrt"
    std::string title; ///< "ONNX Runtime CPU"
    std::string version;
    bool isDocumented = false; ///< nobody ran it: its documents say so
    int opset = 0; ///< the newest version of the format that it reads
    bool takesOperatorCodes = false; ///< int8 operators of their own, with one scale for all weights
    bool takesChannelCodes = false; ///< the same with a scale for each output channel
    bool isSymmetric = false; ///< takes pairs with zero points of 0 only, and no codes of 32 bits

    bool widensLone = false; ///< computes a 16-bit operator between float32 ones in float32, too

    /// By the operator's version in which the answer begins.
    using Answers = std::map<int, KernelAnswer>;
    std::map<std::string, std::map<tensor::DType, Answers>, std::less<>> kernels;

    /// For operators whose parameters may have another type than their data, and then are answered for differently.
    std::map<std::string, Answers, std::less<>> mixed;

    /// mixesTypes  the node has parameters of another type than its data
    KernelAnswer answer(std::string_view op, int opset, tensor::DType type, bool mixesTypes = false) const;
    std::string titleAndVersion() const { return title + ' ' + version; }
};

std::span<const KernelTable> kernelTables();
/// name  of a backend, also with a variant ("ort:CPUExecutionProvider"), or "tensorrt"; null: none is known
const KernelTable *kernelTableOf(std::string_view name);

/// Are models with such a graph what runtimes read?
bool areOfRuntimes(const graph::Graph &graph);
/// What to do about one that they do not read: "; write it as .onnx".
std::string handedFormatHint();

/// An operator that has no kernel in the type that it asks for.
struct MissingKernel
{
    graph::NodeId node = 0;
    std::string op;
    tensor::DType asked = tensor::DType::Unknown;
    KernelAnswer answer;
};

/// Those of a graph of the runtimes' format, by what its operators compute in. Nothing is known of graphs of other formats.
std::vector<MissingKernel> missingKernels(const KernelTable &table, const graph::Graph &graph,
                                          const infer::TypeMap &types);

/// "ONNX Runtime CPU 1.32.0 has no float16 kernel for Conv: it will run in float32, with 2 casts in each run and 52 casts when the model is
/// loaded", one for each type and answer.
/// installed  the version that will run, which is named where it is not the table's; empty: not known
std::vector<std::string> missingTexts(const KernelTable &table, const infer::TypedModel &model,
                                      std::string_view installed = {});

} // namespace halftone::runtimes
