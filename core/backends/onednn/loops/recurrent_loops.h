#pragma once

#include "core/ops/op_speech.h"

#include <cstddef>
#include <cstdint>

/// The inner loops of recurrent layers, compiled for the vector units there may be. States and sums lie in whole vectors: `count` is
/// a multiple of kRecurrentLanes everywhere, and what is beyond the state's size is computed and never read.
namespace halftone::backends::onednn {

inline constexpr std::size_t kRecurrentLanes = 16;

/// What the packed elements of a matrix are.
enum class WeightType : std::uint8_t
{
    F32,
    Bf16 ///< widened as they are read; products and sums are float32
};

/// sums[r][c] = start[c] + Σ over k of rows[r][k] · matrix[k][c], or added to what sums[r] holds. Each sum has the same order
/// whatever the number of rows.
struct RowProducts
{
    const float *const *rows = nullptr;
    float *const *sums = nullptr;
    std::size_t count = 0; ///< of rows
    std::size_t depth = 0;
    const std::byte *matrix = nullptr; ///< as packRecurrent() writes it
    WeightType type = WeightType::F32;
    std::size_t columns = 0; ///< a multiple of kRecurrentLanes
    const float *start = nullptr; ///< null: the sums go on from what they hold
};

void multiplyRows(const RowProducts &products);

/// Some gates of a matrix of a layer, (gates · size, depth), gate after gate.
struct GateRows
{
    const std::byte *elements = nullptr; ///< float32 or bfloat16, as packed; no alignment
    std::size_t size = 0; ///< rows of a gate
    std::size_t depth = 0;
    const std::size_t *gates = nullptr; ///< which of them, in the order of the columns
    std::size_t count = 0; ///< of them
};

/// Elements that packRecurrent() writes.
std::size_t packedCount(const GateRows &rows);
/// Four vectors of columns together, element k of all of them behind each other, so that products read memory in one direction.
void packRecurrent(const GateRows &rows, WeightType type, std::byte *to);

/// values[i] = function(values[i] cut to ±limit). An infinite limit cuts nothing.
void applyFunction(const ops::Recurrence::Function &function, float limit, float *values, std::size_t count);
/// sums[i] += a[i] · b[i]
void addProducts(const float *a, const float *b, float *sums, std::size_t count);
/// results[i] = a[i] · b[i]
void multiplyEach(const float *a, const float *b, float *results, std::size_t count);
/// cell[i] = forget[i] · cell[i] + input[i] · fresh[i]. forget may be null: it is 1 - input then.
void renewCell(const float *input, const float *forget, const float *fresh, float *cell, std::size_t count);
/// hidden[i] = (1 - update[i]) · fresh[i] + update[i] · hidden[i]
void renewHidden(const float *update, const float *fresh, float *hidden, std::size_t count);

} // namespace halftone::backends::onednn
