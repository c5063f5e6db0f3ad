#pragma once

#include "core/mixed/convert_model.h"

#include <optional>
#include <vector>

namespace halftone::mixed {

/// What a chip gains from a conversion by its own figures, in bytes of memory traffic (ChipClock).
struct ChipGain
{
    double before = 0; ///< all operators in float32
    double after = 0; ///< as converted, casts left out
    double casts = 0; ///< that stand alone

    double saved() const { return before - after; }
};

/// `shapes` of the source; operators whose shapes are open count nothing.
ChipGain gainOn(const hardware::Description &chip, const graph::Graph &source,
                const ConvertedModel &converted, const infer::ShapeMap &shapes);

/// no_fast_path, where neither convolutions nor products are native in `type` (F16, BF16, I8), or none of them was found to be faster in it
/// than in float32.
std::optional<policy::Warning> slowPathWarning(const hardware::Description &chip, tensor::DType type);

/// Warnings of a conversion for a chip (core/mixed/RULES.md, M-hardware-warnings), by code: no_fast_path, narrow_accumulator,
/// casts_eat_gain. The last needs shapes.
/// needs  converted.chip
std::vector<policy::Warning> chipWarnings(const graph::Graph &source, const ConvertedModel &converted,
                                          const infer::ShapeMap *shapes);

} // namespace halftone::mixed
