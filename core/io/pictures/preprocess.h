#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/pictures/picture.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone::io {

/// How pictures become the input of a model: short side resized (bilinear), middle cropped, channels ordered, and each
/// value = (pixel − mean) · scale, pixels in 0..255.
struct Preprocess
{
    enum class Color : std::uint8_t
    {
        Rgb,
        Bgr,
        Gray, ///< 0.299 R + 0.587 G + 0.114 B
    };

    std::string input; ///< the model's input
    Color color = Color::Rgb;
    bool channelsLast = false;
    std::optional<std::int64_t> batch; ///< where the model has a fixed one
    std::optional<std::int64_t> height, width; ///< nothing: as the picture is
    std::optional<std::int64_t>
        shortSide; ///< resized to before the crop; nothing: only where a crop needs it
    std::vector<double> mean, scale; ///< one for each channel, in the stated order

    bool operator==(const Preprocess &) const = default;
    std::size_t channels() const { return color == Color::Gray ? 1 : 3; }
};

/// Where a model's preprocess.json lies unless another is told: beside it.
std::string preprocessBeside(const std::string &modelPath);

/// Reads a preprocess.json: `inputs` holds one picture input (the one with a `color`) with `name`, `color`, `shape`,
/// `layout` (NCHW or NHWC), `mean`, `scale`, and `short_side`, or a `note` that says "short side N".
/// fails: BadInput naming the field.
Result<Preprocess> readPreprocess(const std::string &path);

/// Writes what readPreprocess() reads. fails: what the file system says.
Result<void> writePreprocess(const Preprocess &rules, const std::string &path);

/// The inputs that pictures may feed: variables without a parameter, no labels.
std::vector<std::string> pictureInputs(const graph::Model &model);

/// A guess, for a person to mend: the first input, what it says of its shape, else the colours that the first convolution's
/// weights take, and 224 x 224 pixels; from 0 to 1.
Preprocess guessedPreprocess(const graph::Model &model);

/// One picture as a float32 tensor (1, C, H, W) or (1, H, W, C).
Result<tensor::Tensor> preprocessed(const Picture &picture, const Preprocess &rules);

} // namespace halftone::io
