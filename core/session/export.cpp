#include "core/session/export.h"

#include "core/base/atomic_file.h"
#include "core/base/cpu_kind.h"
#include "core/base/output_check.h"
#include "core/infer/known_shapes.h"
#include "core/policy/policy_json.h"
#include "core/policy/policy_options.h"
#include "core/report/html_page.h"
#include "core/session/in_format.h"

#include <array>
#include <ctime>
#include <filesystem>

namespace halftone::session {
namespace {

const io::ModelFormat &formatOf(const ExportOptions &options, const io::LoadedModel &source)
{
    return options.format != nullptr ? *options.format : io::outputFormat(options.prefix, source.model.graph);
}

/// The shapes of variables, as far as they are known.
infer::KnownShapes knownShapes(const Snapshot &snapshot)
{
    if (!snapshot.shapes)
        return {};
    infer::KnownShapes shapes = infer::variableShapes(snapshot.graph(), *snapshot.shapes);
    std::erase_if(shapes, [](const auto &named) { return !named.second.hasRank(); });
    return shapes;
}

/// The converted model in the format that is written. Axes of inputs stay open where the translation allows it.
Result<graph::Model> formatted(const io::ModelOutput &output, const Snapshot &snapshot)
{
    const mixed::ConvertedModel &converted = *snapshot.converted;
    const auto &types = converted.policy.inputDtypes;
    auto open = inFormatOf(output, converted.model, {}, types);
    if (open.ok() || open.error().code != Errc::Unsupported)
        return open;
    return inFormatOf(output, converted.model, knownShapes(snapshot), types);
}

} // namespace

std::vector<std::string> filesOf(const ExportOptions &options, const io::LoadedModel &source)
{
    std::vector<std::string> files;
    if (options.model)
        files = io::outputFiles(options.prefix, formatOf(options, source), options.parameters);
    if (options.policy)
        files.push_back(options.prefix + ".policy.json");
    if (options.report)
        files.push_back(options.prefix + ".html");
    return files;
}

std::string madeLine(std::string_view version)
{
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 40> when{};
    std::strftime(when.data(), when.size(), "%Y-%m-%d %H:%M UTC", &utc);
    const std::string cpu = cpuKind();
    return "Written on " + std::string(when.data()) + " by Halftone " + std::string(version) + " on "
        + cpu.substr(0, cpu.find(',')) + '.';
}

std::string reportPage(const Snapshot &snapshot, const Figures &figures, const std::string &graphSvg,
                       const report::FrontFigures *front, const std::string &made)
{
    report::PageContent content;
    content.made = made;
    content.front = front;
    content.title = std::filesystem::path(snapshot.source->modelPath).filename().string();
    content.source = &snapshot.graph();
    content.converted = snapshot.converted.get();
    content.shapes = snapshot.shapes.get();
    content.graphSvg = graphSvg;
    // Figures of another revision say nothing of this conversion.
    if (figures.comparison && figures.comparisonRevision == snapshot.revision) {
        content.comparison = &figures.comparison->comparison;
        content.examples = figures.comparison->examples;
        content.expected = figures.comparison->expected;
        content.arithmetic = backends::meaningOf(figures.comparison->arithmetic);
        if (const auto &task = figures.comparison->task) {
            if (const auto words = tasks::wordsOf(*task))
                content.score = std::pair(words->name, words->values());
        }
    }
    if (figures.comparison && !content.comparison)
        content.whyNotCompared = "the comparison of these lists had not begun";
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
    if (!snapshot.converted)
        return badCall({}, "the model is still being converted");
    if (options.model && snapshot.policy->analysedFormat)
        return policy::notExported(*snapshot.policy->analysedFormat);
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
                     io::ModelOutput::claim(options.prefix, formatOf(options, *shown.source)));
        HALFTONE_TRY(const graph::Model model, formatted(output, shown));
        HALFTONE_TRY(written, io::saveModel(model, output, *shown.source, writtenTypes(output.format(), model)));
    }
    if (options.policy) {
        written.push_back(options.prefix + ".policy.json");
        HALFTONE_CHECK(writeWhole(written.back(), policy::writePolicy(*snapshot.policy)));
    }
    if (options.report) {
        written.push_back(options.prefix + ".html");
        Figures told = figures;
        if (options.corrected) { // other biases take the same time
            told.comparison = options.correctedComparison;
            told.comparisonRevision = snapshot.revision;
        }
        HALFTONE_CHECK(
            writeWhole(written.back(), reportPage(shown, told, graphSvg, options.front.get(), options.made)));
    }
    return written;
}

} // namespace halftone::session
