#pragma once

#include "core/ops/op_types.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

/// Operators of speech and language models: spectra, recurrence over one direction or two, attention.
namespace halftone::ops {

/// Discrete Fourier transform along an axis; the last axis holds real and imaginary part, or the real part alone.
struct DFT
{
    std::int64_t axis = -2;
    bool inverse = false;
    bool onesided
        = false; ///< only what is not the conjugate of the rest; inverse: given so, the result is real
    std::optional<std::int64_t> length{}; ///< to which the signal is cut or padded with zeros
    /// Along the last axis of rank 2 or 4 instead: n reals become n pairs of real and imaginary part. The inverse gives the real
    /// parts, not divided by n.
    bool pairsInAxis = false;

    bool operator==(const DFT &) const = default;
};

/// Spectra of overlapping frames. Inputs: signal (N, T, 1 or 2)[, frame step][, window][, frame length]. Output: (N,
/// frames, bins, 2).
struct STFT
{
    std::int64_t step = 1;
    std::int64_t length = 0; ///< of a frame
    bool onesided = true;
    std::optional<std::size_t> windowInput{};

    bool operator==(const STFT &) const = default;
};

/// One recurrent layer. Inputs: data (T, N, features), weights (directions, gates · hidden, features), recurrent weights
/// (directions, gates · hidden, hidden), then as far as there are: biases (directions, 2 · gates · hidden), lengths (N), first
/// hidden state (directions, N, hidden), first cell state, peephole weights (directions, 3 · hidden). Outputs: all
/// hidden states (T, directions, N, hidden), the last hidden state, the last cell state. Gates: of Gru update, reset, hidden; of
/// Lstm input, output, forget, cell.
/// Layers on codes (`hasCodes`, Lstm alone, not batch first): weights are codes of 8 bits, (directions, features, gates · hidden) and
/// (directions, hidden, gates · hidden), and the last four inputs are scale and zero point of the weights and of the recurrent weights,
/// (directions) or (directions, gates · hidden). The data of all steps that any sequence has, padding included, become codes
/// together as DynamicQuantizeLinear makes them, and so do the states of a step over the batch. A sequence of length 0 ends in states of
/// zeros. Source: com.microsoft.DynamicQuantizeLSTM as ONNX Runtime computes it on one thread.
/// A stack of layers, each of which reads the hidden states of the one before, the directions side by side: see `stack`.
struct Recurrence
{
    enum class Cell : std::uint8_t { Plain, Gru, Lstm } cell = Cell::Plain;
    enum class Direction : std::uint8_t { Forward, Reverse, Both } direction = Direction::Forward;
    struct Function
    {
        enum class Kind : std::uint8_t {
            Tanh,
            Relu,
            Sigmoid,
            Affine, ///< alpha x + beta
            LeakyRelu,
            ThresholdedRelu,
            ScaledTanh, ///< alpha tanh(beta x)
            HardSigmoid,
            Elu,
            Softsign,
            Softplus
        } kind
            = Kind::Tanh;
        double alpha = 0;
        double beta = 0;

        bool operator==(const Function &) const = default;
    };
    std::vector<Function>
        functions{}; ///< of the gates, of the hidden (and cell) state; one direction after the other
    std::int64_t hiddenSize = 0;
    std::optional<double> clip{}; ///< of what goes into a function
    bool couplesForget = false; ///< Lstm: the forget gate is 1 - the input gate
    bool linearBeforeReset = false; ///< Gru
    bool batchFirst = false; ///< (N, T, features), states (N, directions, hidden)
    /// Which of the inputs behind the first three are there, in their order.
    bool hasBias = false;
    bool hasLengths = false;
    bool hasHidden = false;
    bool hasCell = false;
    bool hasPeepholes = false;
    bool hasCodes = false; ///< weights are codes, and scales and zero points are inputs

    /// Inputs: data (T, N, features), all parameters (one vector, see recurrent_parts.h), first hidden state (layers · directions, N,
    /// outputs), first cell state (layers · directions, N, hidden) of Lstm, lengths (N) where there are any. Outputs: the last
    /// layer's hidden states (T, N, directions · outputs), and where `givesStates` the last states of all layers.
    struct Stack
    {
        std::int64_t layers = 1;
        bool givesStates = false;
        /// Lstm: the hidden state is a matrix (outputs, hidden) times what the cell gives, so many outputs; nothing: hiddenSize.
        std::optional<std::int64_t> projectionSize{};
        std::optional<double> cellMin{}; ///< to which cell states of Lstm are cut
        std::optional<double> cellMax{};
        bool replacesNaN = false; ///< cell states that are NaN become 0

        bool operator==(const Stack &) const = default;
    };
    std::optional<Stack> stack{};

    /// Places of the inputs that there are.
    std::size_t lengthsInput() const
    {
        return stack ? 3 + (cell == Cell::Lstm ? 1U : 0U) : 3 + (hasBias ? 1U : 0U);
    }
    std::size_t hiddenInput() const { return stack ? 2 : lengthsInput() + (hasLengths ? 1U : 0U); }
    std::size_t cellInput() const { return hiddenInput() + (hasHidden ? 1U : 0U); }
    std::size_t peepholesInput() const { return cellInput() + (hasCell ? 1U : 0U); }
    /// Where there are codes: the scale of the weights, before the other three.
    std::size_t scalesInput() const { return peepholesInput() + (hasPeepholes ? 1U : 0U); }

    std::int64_t directions() const { return direction == Direction::Both ? 2 : 1; }
    std::int64_t gates() const { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }
    std::int64_t layers() const { return stack ? stack->layers : 1; }
    std::int64_t outputSize() const
    {
        return stack ? stack->projectionSize.value_or(hiddenSize) : hiddenSize;
    }
    std::size_t functionsEach() const ///< of a direction
    {
        return cell == Cell::Lstm ? 3 : cell == Cell::Gru ? 2 : 1;
    }

    bool operator==(const Recurrence &) const = default;
};

/// Scaled dot-product attention. Inputs: queries, keys, values, (N, heads, T, size) or (N, T, heads · size), then as far as there
/// are: mask (stretches to (N, heads, queries, keys), bool or added), past keys, past values, valid keys (N). Outputs:
/// the result, [keys with the past ones, values with the past ones, what `shows` says].
/// The place of query i among the keys is i + the number of past keys, or i + valid keys - queries, or i. A query from which all
/// keys are hidden gives 0. Source: ONNX operator Attention, opset 25.
struct Attention
{
    enum class Shows : std::uint8_t { Products, Capped, Masked, Weights } shows = Shows::Products;
    std::int64_t queryHeads = 0; ///< of inputs with three axes
    std::int64_t keyHeads = 0;
    std::optional<double> scale{}; ///< nothing: 1 / root of the heads' size
    double cap = 0; ///< products become cap · tanh(x / cap); 0: not
    bool causal = false;
    std::optional<std::int64_t> left{}; ///< how many keys before its own place a query sees; nothing: all
    std::optional<std::int64_t> right{}; ///< how many keys behind it
    DType softmaxType = DType::Unknown; ///< what scores and weights are rounded to; Unknown: not
    bool padsMask
        = false; ///< a mask with fewer keys hides the others, even one of a single key, which else stretches
    bool hasMask = false;
    bool hasPast = false;
    bool hasLengths = false;

    bool operator==(const Attention &) const = default;
};

/// What plans make of attention that is written out: softmax(queries · keysᵀ · scale + mask) · values, head by head. Inputs:
/// queries, keys, values, (N, T, columns) each, or all the same one, in which the heads lie side by side from its place in
/// `columns` on; then the mask, which stretches to (N, heads, queries, keys) and is added. Result: (N, queries, heads · valueSize).
struct RowAttention
{
    std::int64_t heads = 1;
    std::int64_t keyHeads = 1; ///< each serves as many heads of the queries
    std::int64_t size = 0; ///< of a head of queries and keys
    std::int64_t valueSize = 0;
    std::array<std::int64_t, 3> columns{};
    double scale = 1;
    bool hasMask = false;

    bool operator==(const RowAttention &) const = default;
};

/// Turns pairs of elements by the angle of their position. Inputs: data (N, heads, T, size) or (N, T, heads · size), cosines and
/// sines (positions, pairs) or (N, T, pairs)[, positions (N, T)].
struct RotaryEmbedding
{
    bool interleaved = false; ///< pairs are neighbours, otherwise from both halves
    std::int64_t size = 0; ///< elements of a head that are turned; 0: all
    std::int64_t heads = 0; ///< of inputs with three axes
    bool hasPositions = false;

    bool operator==(const RotaryEmbedding &) const = default;
};

} // namespace halftone::ops
