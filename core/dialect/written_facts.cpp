#include "core/dialect/written_facts.h"

#include "core/base/xxh64.h"
#include "core/tensor/tensor.h"

#include <memory>

namespace halftone::dialect {

using graph::NodeDef;
using graph::NodeDefPtr;
using tensor::DType;

DType typeIn(const NodeDef &variable, std::string_view key)
{
    const std::string *const text = variable.attributes.find(key);
    return text != nullptr ? tensor::dtypeNamed(*text).value_or(DType::Unknown) : DType::Unknown;
}

NodeDefPtr withTypeIn(const NodeDefPtr &variable, std::string_view key, DType type)
{
    const std::string *const written = variable->attributes.find(key);
    const std::string_view name = tensor::nameOf(type);
    if (written != nullptr && *written == name)
        return variable;
    auto def = std::make_shared<NodeDef>(*variable);
    def->attributes.set(std::string(key), std::string(name));
    return def;
}

void addHeld(const NodeDef &node, std::string &key)
{
    for (const auto &[name, value] : node.tensors) {
        Xxh64 hash;
        hash.add(value.bytes());
        key.append(name).append(1, '=').append(std::to_string(hash.value())).append(1, ';');
    }
    for (const std::uint32_t slot : node.slots)
        key.append(std::to_string(slot)).append(1, ',');
}

} // namespace halftone::dialect
