#pragma once

#include "core/backends/onednn/packed.h"
#include "core/base/result.h"
#include "core/kernels/backend.h"
#include "core/ops/recurrent_parts.h"
#include "core/tensor/tensor.h"

#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace halftone::backends::onednn {

using ops::RecurrentPart;

/// Elements from one step, sequence and direction of a tensor to the next.
struct RecurrentStrides
{
    std::size_t step = 0;
    std::size_t sequence = 0;
    std::size_t direction = 0;
};

/// Inputs or outputs of the kernel by what they are; nothing: there is none, or nobody reads it.
using RecurrentSlot = std::optional<std::size_t>;

/// What the codes of a matrix stand for: the inputs that hold scales and zero points, and how many of these a part has, 1 or one for each
/// row of its gates.
struct RecurrentScales
{
    std::size_t scales = 0;
    std::size_t zeros = 0;
    std::size_t scalesEach = 1;
    std::size_t zerosEach = 1;
};

/// Weights of 8 bits, see ops::Recurrence. A part's matrix is (features or hidden, gates · hidden) then.
struct RecurrentCodes
{
    bool areSigned = true;
    RecurrentScales weights;
    RecurrentScales recurrent;
};

/// Of products whose sums are exact in 32 bits, whatever the codes are.
inline constexpr std::size_t kMostCodes = 33000;

/// Recurrent layers of one direction or two, and how their tensors lie.
struct RecurrentLayers
{
    ops::Recurrence::Cell cell = ops::Recurrence::Cell::Plain;
    ops::Recurrence::Direction direction = ops::Recurrence::Direction::Forward;
    std::vector<ops::Recurrence::Function>
        functions; ///< as ops::Recurrence has them; of every layer the same
    float limit = std::numeric_limits<float>::infinity(); ///< of what goes into a function
    bool couplesForget = false;
    bool linearBeforeReset = false;
    /// Which gate of the parameters is, of Lstm, input, forget, output, cell; of Gru update, reset, hidden.
    std::array<std::size_t, 4> gateOrder{};
    std::size_t steps = 0;
    std::size_t batch = 0;
    std::size_t hidden = 0;
    tensor::DType type = tensor::DType::F32; ///< of all but the lengths: float32 or a 16-bit float
    tensor::DType lengthsType = tensor::DType::I32;
    std::vector<RecurrentPart> parts; ///< layer by layer, direction by direction
    std::optional<RecurrentCodes> codes; ///< of one layer, Lstm, with float32 for all else
    RecurrentStrides data;
    RecurrentStrides sequence; ///< of the output
    RecurrentStrides
        state; ///< of the first and last states; a layer's directions follow those of the one before
    /// Are weights and recurrent weights as packedParts() makes them? Else as they are in the operator, packed in every run.
    bool isPacked = true;
    RecurrentSlot weights{}, recurrent{}, biases{}, lengths{}, firstHidden{}, firstCell{},
        peepholes{}; ///< inputs; input 0 is the data
    RecurrentSlot allHidden{}, lastHidden{}, lastCell{}; ///< outputs

    std::size_t directions() const { return direction == ops::Recurrence::Direction::Both ? 2 : 1; }
    std::size_t layers() const { return parts.size() / directions(); }
    std::size_t gates() const
    {
        return cell == ops::Recurrence::Cell::Lstm ? 4 : cell == ops::Recurrence::Cell::Gru ? 3 : 1;
    }
};

/// Which matrices of all parts.
enum class RecurrentMatrix : std::uint8_t
{
    Weights,
    Recurrent
};

/// `held` has them as the parts say. fails: NoMemory
Result<std::shared_ptr<const Packed>> packedParts(const RecurrentLayers &layers, RecurrentMatrix which,
                                                  const tensor::Tensor &held);

/// Computes the products with the data for some steps at once, and then goes step by step: products with the state, gates. Sums and
/// states are float32. Directions, and sequences of a batch, are shared among the threads; each is the same whatever its neighbours.
/// With codes directions alone are shared, since the sequences of a batch have one scale.
/// threads  0: as many as there are cores
std::unique_ptr<kernels::Kernel> recurrenceKernel(RecurrentLayers layers, int threads);

} // namespace halftone::backends::onednn
