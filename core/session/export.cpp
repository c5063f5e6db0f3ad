#include "core/session/export.h"

#include "core/base/atomic_file.h"
#include "core/base/output_check.h"
#include "core/policy/policy_json.h"
#include "core/report/html_page.h"
#include "core/session/in_format.h"

#include <filesystem>

namespace halftone::session {
namespace {

Result<void> writeText(const std::string &path, const std::string &text)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path));
    HALFTONE_CHECK(file.write(text));
    return file.commit();
}

} // namespace

std::vector<std::string> filesOf(const ExportOptions &options, const io::LoadedModel &source)
{
    std::vector<std::string> files;
    if (options.model)
        files = io::outputFiles(options.prefix, source.modelPath, options.parameters);
    if (options.policy)
        files.push_back(options.prefix + ".policy.json");
    if (options.report)
        files.push_back(options.prefix + ".html");
    return files;
}

std::string reportPage(const Snapshot &snapshot, const Figures &figures, const std::string &graphSvg)
{
    report::PageContent content;
    content.title = std::filesystem::path(snapshot.source->modelPath).filename().string();
    content.source = &snapshot.graph();
    content.converted = snapshot.converted.get();
    content.shapes = snapshot.shapes.get();
    content.graphSvg = graphSvg;
    // Figures of another revision say nothing of this conversion.
    if (figures.comparison && figures.comparisonRevision == snapshot.revision) {
        content.comparison = &figures.comparison->comparison;
        content.examples = figures.comparison->examples;
        content.arithmetic = backends::meaningOf(figures.comparison->arithmetic);
        if (figures.comparison->reference && figures.comparison->other)
            content.top1 = std::pair(figures.comparison->reference->top1, figures.comparison->other->top1);
    }
    if (figures.latency && figures.latencyRevision == snapshot.revision) {
        content.fp32 = &figures.latency->fp32;
        if (figures.latency->native) {
            content.mixed = &figures.latency->mixed;
            content.versus = &figures.latency->versus;
        }
    }
    return report::htmlPage(content);
}

Result<std::vector<std::string>> exportAll(const Snapshot &snapshot, const Figures &figures,
                                           const ExportOptions &options, const std::string &graphSvg)
{
    if (snapshot.error)
        return *snapshot.error;
    std::vector<NamedFile> reads{{"the model", snapshot.source->modelPath}};
    if (!snapshot.source->paramsPath.empty())
        reads.push_back({"the model", snapshot.source->paramsPath});
    std::vector<NamedFile> writes;
    for (const std::string &path : filesOf(options, *snapshot.source))
        writes.push_back({"export", path});
    HALFTONE_CHECK(checkOutputs(reads, writes));
    Snapshot shown = snapshot;
    if (options.corrected)
        shown.converted = options.corrected;
    std::vector<std::string> written;
    if (options.model) {
        HALFTONE_TRY(const io::ModelOutput output,
                     io::ModelOutput::claim(io::outputName(options.prefix, shown.source->modelPath)));
        const policy::Policy &policy = shown.converted->policy;
        HALFTONE_TRY(const graph::Model model,
                     inFormatOf(output, shown.converted->model, {}, policy.inputDtypes));
        HALFTONE_TRY(written, io::saveModel(model, output, *shown.source));
    }
    if (options.policy) {
        written.push_back(options.prefix + ".policy.json");
        HALFTONE_CHECK(writeText(written.back(), policy::writePolicy(*snapshot.policy)));
    }
    if (options.report) {
        written.push_back(options.prefix + ".html");
        HALFTONE_CHECK(
            writeText(written.back(), reportPage(shown, options.corrected ? Figures() : figures, graphSvg)));
    }
    return written;
}

} // namespace halftone::session
