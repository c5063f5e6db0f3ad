#include "core/io/tflite/tflite_file.h"

/// In place of the other sources of this folder but tflite_format.cpp if FlatBuffers is missing.
namespace halftone::io {

Result<TfliteModel> readTflite(const std::shared_ptr<const MappedFile> &file, std::vector<std::string> &,
                               const std::stop_token &)
{
    return inFile(unsupported({}, "a TensorFlow Lite model, which this build cannot read"), file->path());
}

bool hasTfliteReader()
{
    return false;
}

} // namespace halftone::io
