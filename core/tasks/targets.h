#pragma once

#include "core/base/result.h"
#include "core/io/pictures/labels.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::tasks {

/// What tasks and targets need to know of the examples.
struct JudgedExamples
{
    std::optional<std::size_t> count; ///< nothing: the arrays have no axis of examples
    std::vector<std::string> files; ///< names of the pictures, as many as count; empty for arrays
    io::Labels labels; ///< of as many examples as count; empty: not known
    bool isBgr = false; ///< the order of the pictures' colours
    /// One example of the first input that has rows and columns; an unknown shape if none has.
    std::function<Result<tensor::Shape>()> inputShape;
};

/// Expected values of the first output for each example: pictures, masks of classes, or arrays.
class Targets
{
public:
    enum class Kind : std::uint8_t
    {
        None,
        Array, ///< numbers
        Classes, ///< an integer array
        Pictures,
        Masks, ///< pictures whose pixels are classes (io::readLabelImage)
    };

    /// An `.npz` with an array `targets` (or a single array) whose first axis counts examples, or a folder of pictures: with the names of the
    /// input pictures except for the extension, or, if inputs are arrays, in the order of their names.
    /// path  empty: there are no targets
    /// fails: BadInput for unreadable files, or fewer targets than examples
    static Result<std::shared_ptr<const Targets>> open(const std::string &path,
                                                       const JudgedExamples &examples);
    /// The same for an array in memory.
    static Result<std::shared_ptr<const Targets>> of(tensor::Tensor array, const JudgedExamples &examples);
    virtual ~Targets() = default;

    Kind kind() const { return m_kind; }
    const std::string &path() const { return m_path; }
    /// The shape of one example; unknown if it may differ.
    const tensor::Shape &shape() const { return m_shape; }
    /// Bytes from 0 to 255, which correspond to 0 to 1 if the network's values are in that range.
    bool areBytes() const { return m_areBytes; }

    /// The classes of one example, in the shape that is set. fails: BadInput
    virtual Result<std::vector<std::int64_t>> classes(std::size_t example, tensor::Shape &shape) const = 0;
    /// The values of one example for an output of this shape. fails: BadInput if the size differs
    virtual Result<std::vector<float>> values(std::size_t example,
                                              std::span<const std::int64_t> shape) const = 0;

protected:
    Kind m_kind = Kind::None;
    std::string m_path;
    tensor::Shape m_shape;
    bool m_areBytes = false;
};

} // namespace halftone::tasks
