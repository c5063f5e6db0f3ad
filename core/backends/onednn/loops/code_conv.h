#pragma once

#include "core/backends/onednn/packed.h"
#include "core/kernels/backend.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halftone::backends::onednn {

/// A convolution of codes whose channels lie last, in one group without dilation. Sums are exact; they become
/// codes · clip(sum · factor + bias), in float32 with factors multiplied before, are rounded to nearest, ties to even, and saturated.
struct CodeConv
{
    std::int64_t pictures = 1;
    std::int64_t channels = 4;
    std::int64_t outputs = 16;
    std::int64_t from[2]{}; ///< height, width
    std::int64_t to[2]{};
    std::int64_t kernel[2]{1, 1};
    std::int64_t stride[2]{1, 1};
    std::int64_t pad[2]{}; ///< rows above, columns on the left
    bool isSigned = false; ///< the data; int8, else uint8
    /// Codes of the data for 1, where they are to be made here of float32 in planes, as PictureCoder makes them: of at most
    /// kMostPictureChannels; 0: they are there.
    double planeCodes = 0;
    bool givesSigned = false; ///< the result
    bool givesReals = false; ///< float32 instead: pairConvKernel() alone; codes is 1
    std::int64_t rowWidth
        = 16; ///< channels from pixel to pixel of the result, which may be a part of a wider tensor
    std::vector<double> factors; ///< by output channel, or one
    std::vector<double> bias; ///< by output channel, or empty
    double low = 0; ///< results are cut there
    double high = 0;
    double codes = 1; ///< for 1
    /// What 1 of an addend stands for, which is added before results are cut; of int8 or uint8. 0: there is none.
    double addendStep = 0;
    bool hasSignedAddend = false;

    /// Rows (axis 0) or columns (1) that windows reach, padding included.
    std::int64_t reach(std::size_t axis) const { return (to[axis] - 1) * stride[axis] + kernel[axis]; }
    /// Data that must be copied before, with their padding, as uint8: into so many bytes; 0: need not.
    std::size_t paddedBytes() const;
};

/// A row that windows reach: columns of padding, of data, and of padding again.
struct PaddedRow
{
    std::int64_t left = 0;
    std::int64_t inside = 0;
    std::int64_t right = 0;
    std::int64_t picture = 0;
    std::int64_t y = 0; ///< of the data; of no meaning where `inside` is 0
};

/// row  counted over all pictures, of reach(0) each
PaddedRow paddedRow(const CodeConv &conv, std::int64_t row);

/// What sums become: codes of the result for 1 of a sum, and what is added, in codes; by output channel, 0 beyond the last one.
struct CodeFactors
{
    std::vector<float> factors;
    std::vector<float> bias;
};
CodeFactors codeFactors(const CodeConv &conv, std::int64_t outputs);

/// The weights as the kernel reads them.
/// weights  (outputs, channels, height, width)
/// fails    NoMemory
Result<std::shared_ptr<const Packed>> packCodeWeights(const CodeConv &conv,
                                                      std::span<const std::int8_t> weights);

/// Inputs: data, weights of packCodeWeights()[, addend, with its channels last; the result may lie over it]. Outputs: the result's
/// first element; memory of paddedBytes(), if any.
/// needs    hasWideVectors()
/// threads  0: as many as there are cores
std::unique_ptr<kernels::Kernel> codeConvKernel(CodeConv conv, int threads);

/// Windows of uint8 or int8 codes whose channels lie last: the greatest of each, padding left out.
struct CodeMaxima
{
    std::int64_t pictures = 1;
    std::int64_t channels = 16;
    std::int64_t from[2]{};
    std::int64_t to[2]{};
    std::int64_t kernel[2]{1, 1};
    std::int64_t stride[2]{1, 1};
    std::int64_t pad[2]{};
    bool isSigned = false;
};

/// needs  hasWideVectors(); each window meets an element
std::unique_ptr<kernels::Kernel> codeMaximaKernel(const CodeMaxima &maxima, int threads);

} // namespace halftone::backends::onednn
