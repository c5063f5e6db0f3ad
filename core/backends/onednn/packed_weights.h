#pragma once

#include "core/backends/onednn/dnnl_common.h"
#include "core/backends/onednn/packed.h"
#include "core/backends/onednn/scratch.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace halftone::backends::onednn {

using Allocate = std::shared_ptr<std::byte>(std::size_t bytes);

/// from, to  what describes the tensor's bytes, and those wanted
/// allocate  allocateTogether for what is timed
/// fails: Unsupported without memory or a reorder
Result<std::shared_ptr<const Packed>> pack(const tensor::Tensor &tensor, const Desc &from, const Desc &to,
                                           Allocate *allocate = allocatePages);

std::string packingName(const Desc &from, const Desc &to);

/// What kernels hold packed at the moment, so that those of another interpreter with the same parameters need no copy of
/// their own. They keep the tensors that they were packed from. For any thread.
class PackedWeights
{
public:
    /// As pack(); of threads that ask at the same time one packs.
    Result<std::shared_ptr<const Packed>> get(const tensor::Tensor &tensor, const Desc &from, const Desc &to);

private:
    struct Held
    {
        std::shared_ptr<const Packed> packed;
        tensor::Tensor source;
    };

    std::mutex m_mutex;
    std::unordered_map<std::string, std::weak_ptr<const Packed>> m_packed;
    std::size_t m_tidyAt = 64; ///< entries
};

} // namespace halftone::backends::onednn
