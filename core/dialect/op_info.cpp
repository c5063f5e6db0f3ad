#include "core/dialect/op_info.h"

#include <algorithm>

namespace halftone::dialect {

const AttributeSpec *OpInfo::attribute(std::string_view key) const
{
    const auto at = std::ranges::lower_bound(
        attributes, key, {}, [](const AttributeSpec &spec) { return std::string_view(spec.name); });
    return at != attributes.end() && at->name == key ? &*at : nullptr;
}

std::string_view OpInfo::valueOf(const graph::Attributes &written, std::string_view key) const
{
    const AttributeSpec *const spec = attribute(key);
    if (spec == nullptr)
        return {};
    const std::string *const text = written.find(key);
    return text != nullptr ? std::string_view(*text) : std::string_view(spec->defaultValue);
}

} // namespace halftone::dialect
