#pragma once

#include "core/ops/op_linear.h"
#include "core/ops/op_spatial.h"
#include "core/ops/op_types.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/// Operators of detection and tracking networks on boxes and regions, and on pictures that are warped or compared.
namespace halftone::ops {

/// Offsets from anchors to corner boxes. Inputs: offsets (N, A, 4), anchors (1, A, 4). Output: (N, A, 4).
struct BoxDecode
{
    std::vector<double> variances{1, 1, 1, 1};
    double clip = -1; ///< the largest offset of width and height; not above 0: none
    BoxForm anchorForm = BoxForm::Center;

    bool operator==(const BoxDecode &) const = default;
};

/// Corner boxes to offsets from anchors. Inputs: samples (N, A), matches (N, A), anchors (N, A, 4), references (N, M, 4),
/// means (4), deviations (4). Outputs: offsets and their mask, both (N, A, 4).
struct BoxEncode
{
    bool operator==(const BoxEncode &) const = default;
};

/// Pairs rows and columns of (…, R, C) scores greedily. Outputs: the column of each row (…, R), the row of each column
/// (…, C).
struct BoxMatch
{
    bool ascending = false;
    double threshold = 0;
    std::int64_t topK = -1;

    bool operator==(const BoxMatch &) const = default;
};

/// Regions of a region proposal network. Inputs: class scores (N, 2 A, H, W), offsets (N, 4 A, H, W), picture sizes (N, 3).
/// Outputs: regions (R, 5), their scores (R, 1).
struct Proposal
{
    bool perPicture = false; ///< R regions for each picture of the batch, which is 1 otherwise
    std::int64_t before = 6000; ///< boxes that enter suppression
    std::int64_t after = 300; ///< R
    double threshold = 0.7;
    std::int64_t leastSize = 16;
    std::vector<double> scales{4, 8, 16, 32};
    std::vector<double> ratios{0.5, 1, 2};
    std::int64_t stride = 16;
    bool outputScore = false;
    bool iouLoss = false;

    bool operator==(const Proposal &) const = default;
};

/// Position-sensitive pooling: each bin has channels of its own. Inputs: data (N, C, H, W), regions (R, 5), [offsets of the
/// parts]. Outputs: (R, outputs, size, size), with offsets also the counts.
struct PositionPool
{
    bool deformable = false;
    bool hasOffsets = false; ///< deformable
    std::int64_t outputChannels = 0;
    std::int64_t size = 0;
    std::int64_t groups = 0; ///< 0: as `size`
    double spatialScale = 1;
    std::int64_t parts = 0; ///< deformable; 0: as `size`
    std::int64_t samples = 1; ///< deformable
    double offsetScale = 0; ///< deformable

    bool operator==(const PositionPool &) const = default;
};

/// Average over rotated regions. Inputs: data (N, C, H, W), regions (R, 6): the last is the angle.
struct RotatedRoiAlign
{
    Dims pooledSize{}; ///< (height, width)
    double spatialScale = 1;
    std::int64_t sampleRatio = -1;

    bool operator==(const RotatedRoiAlign &) const = default;
};

/// A convolution whose taps are moved by learnt offsets. Inputs: data, offsets (N, 2 · taps · offset groups, output's
/// extents), [modulation (N, taps · offset groups, output's extents)], weight[, bias].
struct DeformConv
{
    Conv conv{};
    std::int64_t offsetGroups = 1;
    bool modulated = false;
    std::int64_t step = 64; ///< modulated: pictures taken at a time
    /// Inputs: data, weight, offsets[, bias][, modulation], and samples beyond the edge fade to zeros, as modulated ones do.
    bool weightSecond = false;

    // Places of the inputs.
    std::size_t weight() const { return weightSecond ? 1 : modulated ? 3 : 2; }
    std::size_t offsets() const { return weightSecond ? 2 : 1; }
    std::size_t bias() const { return weightSecond ? 3 : weight() + 1; }
    std::size_t modulation() const { return !weightSecond ? 2 : conv.hasBias ? 4 : 3; }

    bool operator==(const DeformConv &) const = default;
};

/// The windows of a convolution as columns, (N, C · taps, places).
struct Unfold
{
    Dims kernel{};
    Dims stride{};
    Dims dilate{};
    Padding pad{};

    bool operator==(const Unfold &) const = default;
};

/// Columns (N, C · taps, places) summed into images (N, C, imageShape…) with any number of axes: the transpose of Unfold.
struct Col2Im
{
    Unfold window{};
    Dims imageShape{};

    bool operator==(const Col2Im &) const = default;
};

/// Products of patches of two feature maps (N, C, H, W) at all displacements. Outputs: (N, displacements, H', W'), and two
/// scratch copies of the padded inputs.
struct Correlation
{
    std::int64_t kernel = 1;
    std::int64_t maxDisplacement = 1;
    std::int64_t stride1 = 1; ///< of the places
    std::int64_t stride2 = 1; ///< of the displacements
    std::int64_t pad = 0;
    bool multiply = true; ///< otherwise absolute differences

    bool operator==(const Correlation &) const = default;
};

/// The grid for GridSample with its axes first, (N, 2, H, W) of x and y, from affine matrices (N, 6) or from a flow (N, 2, H, W).
/// Second output: scratch.
struct SamplingGrid
{
    bool affine = true;
    Dims size{}; ///< affine: (H, W)

    bool operator==(const SamplingGrid &) const = default;
};

/// An affine sampling grid and bilinear sampling in one. Inputs: data, matrices (N, 6). Outputs: (N, C, size), scratch twice.
struct SpatialTransformer
{
    Dims size{}; ///< (H, W)

    bool operator==(const SpatialTransformer &) const = default;
};

/// Preparing pictures (H, W, C), or (N, H, W, C).
struct Picture
{
    enum class Kind : std::uint8_t {
        ToTensor, ///< to (C, H, W) within 0 and 1
        Normalize, ///< of (C, H, W): (x - mean) / deviation
        Resize,
        Crop,
        FlipLeftRight,
        FlipTopBottom,
    } kind
        = Kind::ToTensor;
    std::vector<double> mean{0};
    std::vector<double> deviation{1};
    Dims size{}; ///< Resize: (width, height), or one number for both
    bool keepRatio = false; ///< Resize to one number: of the shorter side
    std::int64_t interpolation = 1; ///< Resize: OpenCV's number
    std::int64_t x = 0; ///< Crop
    std::int64_t y = 0;
    std::int64_t width = 1;
    std::int64_t height = 1;

    bool operator==(const Picture &) const = default;
};

} // namespace halftone::ops
