#pragma once

#include "core/ops/op_speech.h"

#include <array>
#include <cstddef>
#include <vector>

/// Where recurrent layers have their parameters.
namespace halftone::ops {

/// One direction of a layer: the first element of each parameter in the input that holds it. That is the input of its kind, or of a
/// stack the one vector, which has, layer by layer and direction by direction, weights, recurrent weights and projection, and then,
/// in the same order, the two biases.
struct RecurrentPart
{
    std::size_t features = 0; ///< that go in
    std::size_t weights = 0; ///< (gates · hidden, features)
    std::size_t recurrent = 0; ///< (gates · hidden, outputs)
    std::size_t projection = 0; ///< (outputs, hidden), where the stack has one
    std::size_t inputBias = 0; ///< (gates · hidden)
    std::size_t recurrentBias = 0;
};

/// All parts, layer by layer and direction by direction.
/// features  of the data
std::vector<RecurrentPart> recurrentParts(const Recurrence &op, std::size_t features);

/// Elements of the vector of a stack.
std::size_t recurrentParameterCount(const Recurrence &op, std::size_t features);

/// Which gate of the parameters is, of Lstm, input, forget, output, cell; of Gru update, reset, hidden. A stack has the gates of Lstm as
/// input, forget, cell, output and those of Gru as reset, update, hidden.
std::array<std::size_t, 4> recurrentGateOrder(const Recurrence &op);

} // namespace halftone::ops
