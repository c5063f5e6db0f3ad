#pragma once

#include "core/rewrite/conversion.h"

#include <map>
#include <string>

namespace halftone::rewrite {

/// Calls visit(source, conversion) for a graph and for all bodies that were converted with it, however deep.
template <class Visit>
void forConversions(const graph::Graph &source, const Conversion &conversion, const Visit &visit)
{
    visit(source, conversion);
    for (const ConvertedBody &body : conversion.bodies)
        forConversions(*source.node(body.node).subgraphs[body.body], body.conversion, visit);
}

/// What the whole file has: Conversion::castCounts() with those of all bodies.
CastCounts castTotals(const Conversion &conversion);

/// Operators of a graph and its converted bodies, by what they compute in and their name; those that are gone do not count.
std::map<tensor::DType, std::map<std::string, std::size_t>>
operatorsByPrecision(const graph::Graph &source, const Conversion &conversion);

} // namespace halftone::rewrite
