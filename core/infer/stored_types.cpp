#include "core/infer/stored_types.h"

#include "core/infer/infer_types.h"
#include "core/infer/variables.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace halftone::infer {

Result<TypeMap> storedTypes(const graph::Model &model, const policy::Policy &policy)
{
    std::vector<policy::Warning> unheard;
    HALFTONE_TRY(const std::vector<Variable> variables, classifyVariables(model, policy, unheard));
    std::vector<tensor::DType> types;
    std::ranges::transform(variables, std::back_inserter(types), &Variable::type);
    return inferTypes(model.graph, types);
}

} // namespace halftone::infer
