#pragma once

#include "core/session/snapshot.h"
#include "widgets/graphview/scene.h"

#include <array>
#include <cstdint>
#include <vector>

namespace halftone::widgets {

enum class ColourBy
{
    Precision,
    Error, ///< SQNR of a node's output
    Latency,
    Overflow, ///< how near its values come to the end of the target type
    Asked, ///< what the policy asks for against what it became
    RanIn, ///< the type that a runtime ran a node in
};

/// What the view shows; Both: side by side.
enum class Sides
{
    Original,
    Converted,
    Both,
};

/// Kinds of precision that a folded block counts.
inline constexpr std::array kMixTypes{tensor::DType::F32,      tensor::DType::F16,    tensor::DType::BF16,
                                      tensor::DType::F8E4M3FN, tensor::DType::F8E5M2, tensor::DType::TF32,
                                      tensor::DType::Posit16,  tensor::DType::I8,     tensor::DType::Unknown};

/// What is to be told of an item by colour.
struct ItemLook
{
    tensor::DType type = tensor::DType::Unknown; ///< that it computes in
    tensor::DType asked = tensor::DType::Unknown; ///< where a runtime ran it in another type, `ranIn`
    tensor::DType ranIn = tensor::DType::Unknown;
    bool follows = false; ///< as its inputs come
    bool warns = false; ///< overflow or NaN
    bool isStale = false; ///< its figure belongs to another state of the lists
    bool isStoredNarrow = false; ///< the conversion changes how its parameters are stored
    float share = -1; ///< of the scale, 0 harmless to 1 bad; negative: nothing is known
    double value = 0; ///< the figure itself, where share is not negative
    std::uint16_t castsInside = 0; ///< inserted within a folded block, or at a node's parameters
    std::uint16_t castsAtHeads = 0;
    std::array<std::uint32_t, kMixTypes.size()> mix{}; ///< operators of a block by precision
};

/// The inserted casts on an edge.
struct CastMark
{
    tensor::DType type = tensor::DType::Unknown; ///< of the first one
    std::uint16_t count = 0;
    bool isShared = false; ///< it serves other edges too, and is counted at the first of them
};

/// The place of a precision in kMixTypes.
std::size_t mixIndex(tensor::DType type);

/// How the view is painted: types have the colours of precisions, whoever chose them.
constexpr ColourBy paintedBy(ColourBy colourBy)
{
    return colourBy == ColourBy::RanIn ? ColourBy::Precision : colourBy;
}

/// All colours of a scene. Made again after every edit, in time linear in nodes.
struct Looks
{
    std::vector<ItemLook> items; ///< by ItemIndex
    std::vector<CastMark> casts; ///< by edge
    double low = 0; ///< the ends of the scale, as figures
    double high = 0;
    tensor::DType target = tensor::DType::F16; ///< whose end that is, where ranges are told
    bool hasFigures = false;
};

/// converted  false: of the original, without casts
Looks looksOf(const Scene &scene, const session::Snapshot &snapshot, const session::Figures &figures,
              ColourBy colourBy, bool converted);

/// The type of the tensor on a wire: behind the cast in a converted graph. Unknown where there is none: within a fused int8
/// operator.
tensor::DType typeOnWire(const session::Snapshot &snapshot, const layout::Wire &wire, bool converted);

} // namespace halftone::widgets
