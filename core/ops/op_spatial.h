#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>
#include <vector>

/// Operators on pictures: pooling, resizing, cropping, regions and boxes.
namespace halftone::ops {

struct Pool
{
    enum class Kind : std::uint8_t { Max, Average, Sum, Lp } kind = Kind::Max;
    /// How an output extent is rounded: down, up, or ceil(extent / stride) without padding.
    enum class Rounding : std::uint8_t { Valid, Full, Same } rounding = Rounding::Valid;
    Dims kernel{};
    Dims stride{}; ///< empty: all 1
    Dims dilate{}; ///< empty: all 1
    Padding pad{};
    bool global = false; ///< over the whole spatial extent; kernel, stride and pad don't count
    bool countPadding = true; ///< Average: divide by the kernel's size even where it covers padding
    std::optional<std::int64_t> p{}; ///< Lp: the exponent
    /// As in MXNet's first pooling: padding is zeros that count in a maximum, averages are over the whole kernel also where
    /// it reaches beyond the padding, and a maximum over nothing is -inf.
    bool padsZeros = false;
    /// Full rounding makes no window that begins behind the data and the padding before it.
    bool windowsBeginInside = false;
    bool absolute = false; ///< Lp: of any exponent, of magnitudes; otherwise 1 to 3, with signs
    bool indicesByColumn
        = false; ///< output 1, places of a maximum in all the data, counts its first spatial axis fastest
    Layout layout = Layout::ChannelsFirst;

    bool operator==(const Pool &) const = default;
};

/// Average pooling to a given height and width.
struct AdaptiveAveragePool
{
    Dims outputSize{}; ///< (), (both) or (height, width); () is 1 × 1

    bool operator==(const AdaptiveAveragePool &) const = default;
};

/// Resizing by a whole factor. Nearest: each input grows to the size of the first one, then they are joined.
/// Bilinear: a transposed convolution with a learnt weight, inputs data and weight.
struct Upsample
{
    enum class Kind : std::uint8_t { Nearest, Bilinear } kind = Kind::Nearest;
    enum class Join : std::uint8_t { Concat, Sum } join = Join::Concat;
    std::int64_t scale = 1;
    std::int64_t filters = 0; ///< Bilinear: channels
    std::int64_t inputs = 1;

    bool operator==(const Upsample &) const = default;
};

/// Bilinear resizing of (N, C, H, W). Input 1, with Target::Like: the tensor whose height and width are
/// taken.
struct BilinearResize
{
    enum class Target : std::uint8_t {
        Size, ///< height and width, or the scales where they are given
        OddScale, ///< scaled, then made odd by one more
        Like,
        ToEvenDown,
        ToEvenUp,
        ToOddDown,
        ToOddUp,
    } target
        = Target::Size;
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::optional<double> scaleHeight{};
    std::optional<double> scaleWidth{};
    bool alignCorners = true;

    bool operator==(const BilinearResize &) const = default;
};

/// Cuts height and width of (N, C, H, W) to those of input 1, or to `size` when there is one input.
struct Crop
{
    std::int64_t inputs = 1;
    Dims offset{}; ///< (y, x)
    Dims size{}; ///< (height, width)
    bool center = false; ///< in the middle instead of at the offset

    bool operator==(const Crop &) const = default;
};

/// Inputs: data (N, C, H, W), regions (R, 5).
struct RoiPool
{
    enum class Kind : std::uint8_t { Max, Align } kind = Kind::Max;
    Dims pooledSize{}; ///< (height, width)
    double spatialScale = 1;
    std::int64_t sampleRatio = -1; ///< Align
    bool positionSensitive = false; ///< Align: the channels are divided among the bins
    bool aligned = false; ///< Align: half a pixel off

    bool operator==(const RoiPool &) const = default;
};

/// Anchor boxes for every pixel: (1, H × W × (sizes + ratios - 1), 4).
struct BoxPrior
{
    std::vector<double> sizes{1};
    std::vector<double> ratios{1};
    std::vector<double> steps{-1, -1};
    std::vector<double> offsets{0.5, 0.5};
    bool clip = false;

    bool operator==(const BoxPrior &) const = default;
};

/// Inputs: class scores (N, classes, A), offsets (N, 4 A), anchors (1, A, 4). Output: (N, A, 6).
struct BoxDetection
{
    bool clip = true;
    double threshold = 0.01;
    std::int64_t backgroundId = 0;
    double nmsThreshold = 0.5;
    bool forceSuppress = false;
    std::vector<double> variances{0.1, 0.1, 0.2, 0.2};
    std::int64_t nmsTopK = -1;

    bool operator==(const BoxDetection &) const = default;
};

/// Training targets. Inputs: anchors (1, A, 4), labels (N, L, ≥5), class scores (N, classes, A).
struct BoxTarget
{
    double overlapThreshold = 0.5;
    double ignoreLabel = -1;
    double negativeMiningRatio = -1;
    double negativeMiningThreshold = 0.5;
    std::int64_t minimumNegatives = 0;
    std::vector<double> variances{0.1, 0.1, 0.2, 0.2};

    bool operator==(const BoxTarget &) const = default;
};

/// Boxes in a corner (x1, y1, x2, y2) or centre (x, y, width, height) form.
enum class BoxForm : std::uint8_t
{
    Corner,
    Center
};

/// Non-maximum suppression over the last axis but one.
struct BoxNms
{
    double overlapThreshold = 0.5;
    double validThreshold = 0;
    std::int64_t topK = -1;
    std::int64_t coordStart = 2;
    std::int64_t scoreIndex = 1;
    std::int64_t idIndex = -1;
    std::int64_t backgroundId = -1;
    bool forceSuppress = false;
    BoxForm inForm = BoxForm::Corner;
    BoxForm outForm = BoxForm::Corner;

    bool operator==(const BoxNms &) const = default;
};

/// Overlap of every box of the first input with every one of the second.
struct BoxIou
{
    BoxForm form = BoxForm::Corner;

    bool operator==(const BoxIou &) const = default;
};

} // namespace halftone::ops
