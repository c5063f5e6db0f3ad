#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/arrays/npz.h"
#include "core/io/pictures/preprocess.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace halftone::walks {

/// Inputs for want of data.
struct DrawnInputs
{
    std::vector<io::NamedTensor> arrays; ///< one for each input that the outputs depend on
    bool isGuessed
        = false; ///< the model does not say all extents: some are usual ones that fit its parameters
};

/// Draws values for the inputs of a model, the same in every process: floats from a normal distribution, ones for the rest.
/// Errors of layers can be computed with them; of accuracy they say nothing.
///
/// examples  along the first axis, where the model leaves that open
/// pictures  what is known of how pictures become its input, whose extents go before usual ones; nothing: guessed
/// fails: Unsupported where no usual extents fit, `where` = the input; what allocation says
Result<DrawnInputs> drawInputs(const graph::Model &model, std::size_t examples,
                               const std::optional<io::Preprocess> &pictures = std::nullopt);

} // namespace halftone::walks
