#pragma once

#include "core/base/mapped_file.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/file_facts.h"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace halftone::io {

/// A model with what its file says of itself.
struct TfliteModel
{
    graph::Model model;
    FileFacts facts;
};

/// Reads a TensorFlow Lite file (schema 3). Every offset is checked before anything is read.
/// fails: BadInput with the place; Unsupported in a build without FlatBuffers; Cancelled
Result<TfliteModel> readTflite(const std::shared_ptr<const MappedFile> &file, std::vector<std::string> &notes,
                               const std::stop_token &stop);

/// Can this build read TensorFlow Lite?
bool hasTfliteReader();

} // namespace halftone::io
