#include "core/io/formats.h"

#include "core/dialect/dialect.h"
#include "core/io/onnx/onnx_format.h"
#include "core/io/sniff.h"
#include "core/io/tflite/tflite_format.h"
#ifndef HALFTONE_WITHOUT_MXNET
#include "core/io/mxnet/mxnet_format.h"
#endif

#include <algorithm>

namespace halftone::io {
namespace {

std::vector<const ModelFormat *> &formatTable()
{
    static std::vector<const ModelFormat *> table{
        &onnxFormat(),
#ifndef HALFTONE_WITHOUT_MXNET
        &mxnetFormat(),
#endif
        &tfliteFormat(),
    };
    return table;
}

template <class Matches>
const ModelFormat *firstFormat(const Matches &matches)
{
    const auto found = std::ranges::find_if(formatTable(), matches);
    return found == formatTable().end() ? nullptr : *found;
}

std::string joinedTexts(std::string_view ModelFormat::*text, std::string_view separator)
{
    std::string all;
    for (const ModelFormat *const format : formatTable())
        all.append(all.empty() ? "" : separator).append(format->*text);
    return all;
}

} // namespace

std::span<const ModelFormat *const> formats()
{
    return formatTable();
}

bool addFormat(const ModelFormat &format)
{
    if (formatNamed(format.name) != nullptr)
        return false;
    formatTable().push_back(&format);
    return true;
}

const ModelFormat *formatNamed(std::string_view name)
{
    return firstFormat([name](const ModelFormat *format) { return format->name == name; });
}

const ModelFormat *formatOf(const graph::Graph &graph)
{
    return graph.dialect() == nullptr ? nullptr : formatNamed(graph.dialect()->name());
}

const ModelFormat *formatOfName(std::string_view path)
{
    return firstFormat([path](const ModelFormat *format) { return path.ends_with(format->ending); });
}

const ModelFormat &outputFormat(const std::string &prefix, const graph::Graph &graph)
{
    const ModelFormat *format = formatOfName(prefix);
    if (format == nullptr)
        format = formatOf(graph);
    return format != nullptr ? *format : *formatTable().front();
}

const ModelFormat &outputFormat(const std::string &prefix, const std::string &modelPath)
{
    if (const ModelFormat *const named = formatOfName(prefix))
        return *named;
    const auto file = MappedFile::open(modelPath);
    const auto sniffed
        = file.ok() ? sniff(file.value()->bytes(), modelPath) : Result<const ModelFormat *>(nullptr);
    const ModelFormat *const format
        = sniffed.ok() && sniffed.value() != nullptr ? sniffed.value() : formatOfName(modelPath);
    return format != nullptr ? *format : *formatTable().front();
}

std::string expectedFiles()
{
    return joinedTexts(&ModelFormat::files, ", or ");
}

std::string modelPlaceholders()
{
    return joinedTexts(&ModelFormat::placeholder, ", ");
}

std::string parameterFileHelp()
{
    std::string titles;
    for (const ModelFormat *const format : formatTable()) {
        if (format->hasParameterFile)
            titles.append(titles.empty() ? "" : " or ").append(format->title);
    }
    return titles.empty() ? "'none' to load no parameters" : titles + " parameter file, or 'none'";
}

std::string filePatterns()
{
    std::string patterns;
    for (const ModelFormat *const format : formatTable())
        patterns.append(patterns.empty() ? "*" : " *").append(format->ending);
    return patterns;
}

} // namespace halftone::io
