#pragma once

#include "core/backends/onednn/packed.h"
#include "core/kernels/backend.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <limits>
#include <memory>

namespace halftone::backends::onednn {

/// A convolution of 3×3 windows with stride 1 by Winograd's minimal filtering F(m×m, 3×3): tiles of m×m results cost (m+2)² products
/// for each pair of channels instead of 9·m². After Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015. Sums
/// are float32 in another order than the definition's, whose results it meets within some 1e-6 of the largest.
struct WinogradConv
{
    std::int64_t pictures = 1;
    std::int64_t channels = 16; ///< a multiple of 16
    std::int64_t outputs = 16; ///< a multiple of 16
    std::int64_t from[2]{}; ///< height, width
    std::int64_t to[2]{};
    std::int64_t pad[2]{}; ///< rows above, columns on the left
    int tile = 4; ///< m, 2 or 4
    bool isBlocked = false; ///< 16 channels together, else all: data, addend and result
    tensor::DType type = tensor::DType::F32; ///< of data, addend and result: or BF16
    bool hasBias = false;
    bool hasAddend = false; ///< is added before the limits
    float low = -std::numeric_limits<float>::infinity(); ///< results are cut there
    float high = std::numeric_limits<float>::infinity();
};

/// What either way of computing it takes, in products of float32 (about: a machine whose caches and memory are as fast as its
/// arithmetic allows). `shape.tile` counts for the first alone.
double winogradCost(const WinogradConv &shape, int threads);
double directCost(const WinogradConv &shape);

/// The weights as the kernel reads them: transformed, float32.
/// weights  (outputs, channels, 3, 3), float32 or bfloat16
/// fails    NoMemory
Result<std::shared_ptr<const Packed>> winogradWeights(const WinogradConv &shape,
                                                      const tensor::Tensor &weights);

/// Inputs: data, weights of winogradWeights()[, bias in float32][, addend]; the result may lie over the addend.
/// needs    hasWideVectors()
/// threads  0: as many as there are cores
std::unique_ptr<kernels::Kernel> winogradKernel(const WinogradConv &shape, int threads);

} // namespace halftone::backends::onednn
