#include "core/plan/simplify.h"

#include "core/plan/coded_values.h"
#include "core/plan/int8_ranges.h"
#include "core/plan/plan_edit.h"
#include "core/tensor/convert.h"

namespace halftone::plan {
namespace {

using tensor::DType;

/// A quarter of a GiB: constants beyond are computed on every run, which costs time and no memory.
constexpr std::size_t kLargestFolded = std::size_t{1} << 28;

std::optional<std::size_t> bytesOf(const kernels::TensorDesc &desc)
{
    const auto count = desc.shape.elementCount();
    if (!count || desc.dtype == DType::Unknown)
        return std::nullopt;
    return static_cast<std::size_t>(*count) * tensor::sizeOf(desc.dtype);
}

bool canFold(const PlanGraph &graph, const PlanNode &node)
{
    std::size_t total = 0;
    for (const ValueId value : node.outputs) {
        const auto bytes = bytesOf(graph.desc(value));
        total += bytes.value_or(kLargestFolded);
        if (total > kLargestFolded)
            return false;
    }
    for (const ValueId value : node.inputs)
        if (!graph.isConstant(value))
            return false;
    return node.post.empty() && !node.makeKernel; // bodies may draw numbers
}

/// The codes of a constant that the node decodes, where these are float8 around 0.
void keepFloat8(PlanGraph &graph, const PlanNode &node)
{
    const auto *decode = node.op.getIf<ops::DequantizeLinear>();
    if (decode == nullptr || decode->block != 0
        || (decode->hasZeroPoint && !isFloat8Zero(*graph.values[node.inputs[2]].constant)))
        return;
    const tensor::Tensor &codes = *graph.values[node.inputs[0]].constant;
    if (isFloat8(codes.dtype()))
        graph.values[node.outputs[0]].decodedFrom = {codes, *graph.values[node.inputs[1]].constant};
}

using Tensors = std::vector<tensor::Tensor>;

Result<std::shared_ptr<const Tensors>> compute(const PlanGraph &graph, const PlanNode &node,
                                               const kernels::Backend &backend)
{
    std::vector<std::vector<std::byte>> aligned; // inputs may lie unaligned in a mapped file
    std::vector<const std::byte *> inputs;
    for (const ValueId value : node.inputs) {
        const auto bytes = graph.values[value].constant->bytes();
        aligned.emplace_back(bytes.begin(), bytes.end());
        inputs.push_back(aligned.back().data());
    }
    std::vector<std::vector<std::byte>> results;
    std::vector<std::byte *> outputs;
    for (const ValueId value : node.outputs) {
        results.emplace_back(*bytesOf(graph.desc(value)));
        outputs.push_back(results.back().data());
    }
    HALFTONE_TRY(const std::unique_ptr<kernels::Kernel> kernel, prepareNode(graph, node, backend));
    HALFTONE_CHECK(kernel->run(inputs, outputs));
    auto tensors = std::make_shared<Tensors>();
    for (std::size_t k = 0; k < results.size(); ++k)
        tensors->push_back(tensor::Tensor::owning(graph.desc(node.outputs[k]).dtype,
                                                  graph.desc(node.outputs[k]).shape, std::move(results[k])));
    return std::shared_ptr<const Tensors>(std::move(tensors));
}

Result<std::shared_ptr<const Tensors>> castConstant(const tensor::Tensor &source, DType type)
{
    HALFTONE_TRY(tensor::Tensor cast, tensor::castTo(source, type));
    return std::make_shared<const Tensors>(Tensors{std::move(cast)});
}

} // namespace

Result<void> foldConstants(PlanGraph &graph, const kernels::Backend *backend, kernels::PlanCache &cache)
{
    std::vector<bool> folded(graph.nodes.size());
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
        const PlanNode &node = graph.nodes[k];
        const bool isCast = node.op.is<ops::Cast>();
        if (!canFold(graph, node) || (!isCast && backend == nullptr))
            continue;
        std::shared_ptr<const Tensors> results;
        if (isCast && tensor::isFloat(graph.desc(node.outputs[0]).dtype)) {
            const tensor::Tensor &source = *graph.values[node.inputs[0]].constant;
            const DType type = graph.desc(node.outputs[0]).dtype;
            HALFTONE_TRY(results,
                         cache.get<Tensors>("cast " + std::string(tensor::nameOf(type)), {source},
                                            [&] { return castConstant(source, type); }));
        } else if (backend != nullptr) {
            auto computed = compute(graph, node, *backend);
            if (!computed.ok()) // the plan will say so, if it cannot compute it either
                continue;
            results = std::move(computed).value();
        } else {
            continue;
        }
        for (std::size_t output = 0; output < node.outputs.size(); ++output)
            graph.values[node.outputs[output]].constant = (*results)[output];
        keepFloat8(graph, node);
        folded[k] = true;
    }
    eraseNodes(graph, folded);
    return {};
}

void removeUnused(PlanGraph &graph)
{
    std::vector<bool> needed(graph.values.size());
    for (const ValueId value : graph.outputs)
        needed[value] = true;
    std::vector<bool> unused(graph.nodes.size());
    for (std::size_t k = graph.nodes.size(); k-- > 0;) {
        const PlanNode &node = graph.nodes[k];
        bool isNeeded = false;
        for (const ValueId value : node.outputs)
            isNeeded = isNeeded || needed[value];
        unused[k] = !isNeeded;
        if (!isNeeded)
            continue;
        for (const ValueId value : node.inputs)
            needed[value] = true;
        for (const PostOp &post : node.post)
            if (post.operand != kNoValue)
                needed[post.operand] = true;
    }
    eraseNodes(graph, unused);
    std::erase_if(graph.inputs, [&needed](ValueId value) { return !needed[value]; });
}

Result<void> simplify(PlanGraph &graph, const kernels::Backend *backend, kernels::PlanCache &cache,
                      const Simplification &device)
{
    removeIdentities(graph);
    removeUnused(graph);
    fuseRequantize(graph);
    fuseCodes(graph);
    if (!device.multipliesCodes)
        unfoldCodedProducts(graph);
    removeUnused(graph);
    shareRanges(graph);
    fuseDequantize(graph);
    foldCasts(graph, device);
    HALFTONE_CHECK(foldBatchNorms(graph, cache));
    HALFTONE_CHECK(foldConstants(graph, backend, cache));
    fuseSums(graph);
    fuseUnits(graph);
    settleScalars(graph);
    fuseAttention(graph, device);
    splitGemms(graph);
    foldPads(graph);
    poolBeforeConvolution(graph);
    fusePostOps(graph);
    foldCasts(graph, device);
    fusePostOps(graph); // what follows casts that are gone now
    foldCasts(graph, device);
    sinkStrides(graph);
    removeUnused(graph);
    return {};
}

Result<PlanGraph> simplifiedGraph(const infer::TypedModel &model, const kernels::Backend *backend,
                                  kernels::PlanCache &cache, const Simplification &device,
                                  const kernels::BodyKernels &bodies)
{
    HALFTONE_TRY(PlanGraph graph, buildPlanGraph(model, bodies));
    settleRanges(graph);
    HALFTONE_CHECK(simplify(graph, backend, cache, device));
    return graph;
}

} // namespace halftone::plan
