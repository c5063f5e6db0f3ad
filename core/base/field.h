#pragma once

#include <cstdint>
#include <string_view>

namespace halftone {

/// A setting that whoever calls the core has chosen. Errors tell settings by these, and every front has its own word for each:
/// the command line an option, the window what it shows.
enum class Field : std::uint8_t
{
    None,
    Model,
    Params,
    Policy,
    Target,
    Mode,
    TargetOp,
    Fp32Op,
    WidestOp,
    NeutralOp,
    Int8Op,
    Conditional,
    Exclude,
    ExcludeOp,
    Override,
    InputType,
    Shape,
    Inputs,
    Preprocess,
    Labels,
    Examples,
    Batch,
    Layers,
    Effect,
    Memory,
    Backend,
    Opset,
    Hardware,
    Accumulate,
    Optimise,
    Weights,
    WeightMethod,
    WeightForm,
};

/// In plain words: "inputs", "fp32 operator". The text lives as long as the program.
std::string_view nameOf(Field field);

/// What a front calls settings; nameOf() where it has no word of its own.
using FieldNames = std::string_view (*)(Field);

} // namespace halftone
