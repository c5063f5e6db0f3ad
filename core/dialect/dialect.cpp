#include "core/dialect/dialect.h"

namespace halftone::dialect {

FusedFacts Dialect::fusedFacts(const graph::NodeDef &) const
{
    return {};
}

tensor::Shape Dialect::filledShape(const graph::Graph &, const graph::NodeDef &) const
{
    return {};
}

std::span<const std::string_view> Dialect::listVersions() const
{
    return {};
}

std::string Dialect::listResource(tensor::DType, std::string_view) const
{
    return {};
}

bool Dialect::isJudgedByBody(std::string_view) const
{
    return false;
}

} // namespace halftone::dialect
