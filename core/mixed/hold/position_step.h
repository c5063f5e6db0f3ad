#pragma once

#include "core/ops/operator.h"
#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>

namespace halftone::mixed {

/// What a value is made of, as far as positions are concerned. In ascending order of what an operator makes of several.
enum class Origin : std::uint8_t
{
    Other, ///< computed by the network: its rounding is what 16 bit is about
    Fixed, ///< constants, parameters and what is computed from them alone
    Truth, ///< 0 and 1, exact in every type
    Data, ///< what is fed as reals, which may be a time or an index
    Position, ///< integers, ranges and running sums
};

/// What an operator makes of the origins of its floats.
enum class Step : std::uint8_t
{
    Ends, ///< nothing of them is left
    Makes, ///< positions, whatever it reads
    Constant, ///< gives what is known before the network runs
    Truths, ///< gives 0 and 1
    Carries, ///< element by element, linear: all that it reads must be no Other
    Curves, ///< likewise, but what is fed as reals is no time or index behind it
    Multiplies, ///< sums of products: likewise as Carries, but truths choose rows of a table there
    Looks, ///< takes from its first input where the others say
};

/// Of an operator that reads and gives floats.
Step stepOf(const ops::Operator &op);

/// What a float input of an operator means to it, where rounding it makes a wrong result.
struct Need
{
    Origin from = Origin::Position; ///< the least origin for which it matters
    bool holdsItself = true; ///< false: the operator reads the input in a type of its own
};

enum class Purpose : std::uint8_t
{
    Positions,
    PositionsAndWaves, ///< and what their sines and cosines turn
    Scales ///< those of Resize alone
};

/// What becomes of sines and cosines of positions.
enum class WaveStep : std::uint8_t
{
    Ends,
    Makes, ///< gives them
    Moves, ///< gives those that it reads
    Turns, ///< multiplies what the network computes by them
    Sums, ///< of two such products
    TurnsWhole ///< does all that at once
};

WaveStep waveStepOf(const ops::Operator &op);

/// Does the operator need this input exact? Null where not. `input`: the slot of the operator.
const Need *needOf(const ops::Operator &op, std::size_t input, Purpose purpose);

} // namespace halftone::mixed
