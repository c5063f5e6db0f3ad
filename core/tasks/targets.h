#pragma once

#include "core/base/result.h"
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
    std::vector<std::int64_t> labels; ///< as many as count; empty: not known
    bool isBgr = false; ///< the order of the pictures' colours
    /// One example of the first input that has rows and columns; an unknown shape if none has.
    std::function<Result<tensor::Shape>()> inputShape;
};

/// What the first output should be, example for example: pictures, masks of classes, or arrays.
class Targets
{
public:
    enum class Kind : std::uint8_t
    {
        None,
        Array, ///< numbers
        Classes, ///< an array of whole numbers
        Pictures,
        Masks, ///< pictures whose pixels are classes (io::readLabelImage)
    };

    /// An `.npz` with an array `targets` (or one array alone) whose first axis counts examples, or a folder of pictures: called as
    /// the inputs' pictures are but for the ending, or, beside inputs that are no pictures, in the order of their names.
    /// fails: BadInput for files that cannot be read, or fewer than examples.
    /// path  empty: nothing is known
    static Result<std::shared_ptr<const Targets>> open(const std::string &path,
                                                       const JudgedExamples &examples);
    virtual ~Targets() = default;

    Kind kind() const { return m_kind; }
    const std::string &path() const { return m_path; }
    /// Of one example; unknown where each may have another.
    const tensor::Shape &shape() const { return m_shape; }
    /// Numbers from 0 to 255, which stand for 0 to 1 where the network gives these.
    bool areBytes() const { return m_areBytes; }

    /// The classes of one example, as many as the shape has. fails: BadInput
    virtual Result<std::vector<std::int64_t>> classes(std::size_t example, tensor::Shape &shape) const = 0;
    /// The numbers of one example of an output of this shape. fails: BadInput for another size
    virtual Result<std::vector<float>> values(std::size_t example,
                                              std::span<const std::int64_t> shape) const = 0;

protected:
    Kind m_kind = Kind::None;
    std::string m_path;
    tensor::Shape m_shape;
    bool m_areBytes = false;
};

} // namespace halftone::tasks
