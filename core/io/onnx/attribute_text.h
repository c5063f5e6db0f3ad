#pragma once

#include "core/base/result.h"
#include "core/dialect/op_info.h"
#include "core/graph/graph.h"

#include <onnx-ml.pb.h>

#include <optional>
#include <string>

/// Attributes as the texts that nodes have, and back.
namespace halftone::io::onnx {

/// The field of an attribute that its kind in the schema needs; UNDEFINED where any may be.
::onnx::AttributeProto::AttributeType neededType(dialect::AttributeType type);

/// The field for an attribute that no file gave one. spec: null where nothing is known of it
::onnx::AttributeProto::AttributeType typeFor(const dialect::AttributeSpec *spec);

/// The text as the field of the attribute's type. fails: BadInput for one that is no value of it
Result<void> writeText(const graph::NodeDef &def, const std::string &key, const std::string &text,
                       ::onnx::AttributeProto &attribute);

/// What the reader makes of an attribute; nothing for those that only the message holds.
std::optional<std::string> textOf(const ::onnx::AttributeProto &attribute);

} // namespace halftone::io::onnx
