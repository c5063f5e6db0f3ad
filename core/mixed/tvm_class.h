#pragma once

#include "core/ops/operator.h"

#include <cstdint>
#include <optional>

namespace halftone::mixed {

/// How TVM's pass treats an operator.
enum class TvmClass : std::uint8_t
{
    Always, ///< computes in the target type
    Follow, ///< does so where all that it reads is there in it, or can be cast for free
    Never ///< computes in float32
};

/// The class in the stock table of Relay's pass (apache/tvm, python/tvm/relay/transform/mixed_precision.py, releases 0.8 to 0.19) of the
/// operator that computes the same; nothing where that table has none: the pass then takes it as Follow.
std::optional<TvmClass> tvmClassOf(const ops::Operator &op);

} // namespace halftone::mixed
