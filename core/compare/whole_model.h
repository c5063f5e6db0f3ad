#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/interpret/interpreter.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace halftone::compare {

/// A model that is run whole by something else than an interpreter, such as a runtime. One run at a time.
class WholeModel
{
public:
    virtual ~WholeModel() = default;

    /// The outputs of the model, in order.
    virtual Result<std::vector<tensor::Tensor>> heads(const interpret::Feed &feed, const Progress &progress)
        = 0;

    using Take = std::function<Result<void>(std::size_t place, const tensor::Tensor &value)>;
    /// Hands over values of nodes, by their place in `wanted`, in any order. Those that do not exist when it runs are left out.
    virtual Result<void> values(const interpret::Feed &feed, std::span<const graph::Entry> wanted,
                                const Take &take, const Progress &progress)
        = 0;
};

} // namespace halftone::compare
