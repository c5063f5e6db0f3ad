#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/arrays/npz.h"
#include "core/io/pictures/preprocess.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace halftone::walks {

/// Random inputs for models without data.
struct DrawnInputs
{
    std::vector<io::NamedTensor> arrays; ///< one for each input that the outputs depend on
    bool isGuessed
        = false; ///< the model leaves extents open; typical ones that fit its parameters were chosen
};

/// Draws values for the inputs of a model, the same in every process: floats from a normal distribution; integers evenly among those that their
/// readers accept, such as rows of a table, otherwise ones; caches are empty. They suffice for errors of layers, not for accuracy.
///
/// examples  extent of the first axis if the model leaves it open
/// pictures  preprocessing of pictures, whose extents take precedence over typical ones; absent: guessed
/// fails: Unsupported if no typical extents fit, `where` = the input; NoMemory
Result<DrawnInputs> drawInputs(const graph::Model &model, std::size_t examples,
                               const std::optional<io::Preprocess> &pictures = std::nullopt);

} // namespace halftone::walks
