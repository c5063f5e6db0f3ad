#include "core/interpret/run_steps.h"
#include "core/kernels/buffer.h"
#include "core/ops/tensor_list.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace halftone::interpret {
namespace {

using tensor::Tensor;

/// The tensors of a list share its bytes.
Result<std::vector<Tensor>> partsOf(const Tensor &list)
{
    HALFTONE_TRY(const std::vector<ops::TypedBytes> parts,
                 ops::tensorsOf({list.dtype(), list.shape(), list.bytes()}));
    const auto owner = std::make_shared<const Tensor>(list);
    std::vector<Tensor> tensors;
    tensors.reserve(parts.size());
    for (const ops::TypedBytes &part : parts)
        tensors.emplace_back(part.type, part.shape, part.bytes, owner);
    return tensors;
}

Result<Tensor> listOf(const std::vector<Tensor> &parts, tensor::DType type)
{
    std::vector<ops::TypedBytes> typed;
    typed.reserve(parts.size());
    for (const Tensor &part : parts)
        typed.push_back({part.dtype(), part.shape(), part.bytes()});
    HALFTONE_TRY(const ops::ListResult list, ops::ListResult::of(ops::TensorList{}, typed));
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate({type, list.shape(type)}));
    list.write(buffer.bytes);
    return buffer.tensor;
}

} // namespace

Result<std::vector<Tensor>> runMap(const Body &body, std::vector<Tensor> inputs,
                                   const std::vector<tensor::DType> &types, const RunOptions &options)
{
    std::vector<std::vector<Tensor>> lists(inputs.size());
    std::size_t steps = 0;
    bool isFirst = true;
    for (const infer::BoundBody::Tie &tie : body.bound->ties) {
        if (!tie.sliced)
            continue;
        HALFTONE_TRY(lists[tie.input], partsOf(inputs[tie.input]));
        if (!isFirst && lists[tie.input].size() != steps)
            return badInput("input " + std::to_string(tie.input),
                            "a list of " + std::to_string(lists[tie.input].size()),
                            std::to_string(steps) + ", like the other inputs");
        steps = lists[tie.input].size();
        isFirst = false;
    }
    if (isFirst) { // the body looks at no list
        HALFTONE_TRY(const std::vector<Tensor> parts, partsOf(inputs[0]));
        steps = parts.size();
    }
    infer::BoundBody whole = *body.bound;
    for (infer::BoundBody::Tie &tie : whole.ties)
        tie.sliced = false;
    const Body each{body.runner, &whole};
    std::vector<std::vector<Tensor>> made(types.size());
    for (std::size_t step = 0; step < steps; ++step) {
        HALFTONE_CHECK(options.progress.checkStop());
        for (std::size_t k = 0; k < inputs.size(); ++k)
            if (!lists[k].empty())
                inputs[k] = lists[k][step];
        HALFTONE_TRY(std::vector<Tensor> outputs, each.run(inputs, 0, 1, options));
        for (std::size_t k = 0; k < std::min(made.size(), outputs.size()); ++k)
            made[k].push_back(std::move(outputs[k]));
    }
    std::vector<Tensor> results;
    for (std::size_t k = 0; k < made.size(); ++k) {
        HALFTONE_TRY(Tensor list, listOf(made[k], types[k]));
        results.push_back(std::move(list));
    }
    return results;
}

} // namespace halftone::interpret
