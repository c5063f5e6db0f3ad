#include "core/session/report_data.h"

#include "core/base/mapped_file.h"
#include "core/policy/policy_json.h"
#include "core/policy/policy_options.h"
#include "core/session/document.h"
#include "core/session/export.h"
#include "core/session/figures.h"
#include "core/session/graph_picture.h"

namespace halftone::session {
namespace {

struct Opened
{
    std::unique_ptr<Document> document;
    std::optional<walks::ExampleOptions> data;
};

Result<Opened> openPath(const ReportRequest &request)
{
    Opened opened;
    io::LoadOptions options;
    options.params = request.params;
    if (request.opened) {
        HALFTONE_TRY(opened.document, Document::of(*request.opened));
        return opened;
    }
    if (!request.path.ends_with(".halftone")) {
        HALFTONE_TRY(opened.document, Document::open(request.path, options));
        return opened;
    }
    HALFTONE_TRY(const SessionFile file, readSession(request.path));
    options.params = file.paramsPath;
    HALFTONE_TRY(opened.document, Document::open(file.modelPath, options));
    opened.document->setHistory(file.history);
    opened.data = file.data;
    return opened;
}

Result<void> takePolicy(const ReportRequest &request, Document &document)
{
    policy::Policy policy = request.policy.value_or(document.policy());
    if (!request.policyPath.empty()) {
        HALFTONE_TRY(const auto mapped, MappedFile::open(request.policyPath));
        auto read = policy::readPolicy(mapped->text());
        if (!read.ok())
            return inFile(std::move(read).error(), request.policyPath);
        policy = std::move(read).value();
    }
    if (!request.target.empty())
        HALFTONE_CHECK(policy::setTarget(policy, request.target));
    if (!request.hardware.empty())
        HALFTONE_CHECK(policy::setHardware(policy, request.hardware));
    return document.apply(policy::ReplacePolicy{std::move(policy), "report"});
}

Result<void> takeShapes(const walks::ExampleOptions &data, Document &document)
{
    const io::LoadedModel &source = document.session().source();
    HALFTONE_TRY(const auto shapes, walks::shapesOfOne(data, source.model, source.modelPath));
    for (const auto &[name, shape] : shapes)
        HALFTONE_CHECK(document.setInputShape(name, shape));
    return {};
}

Result<std::optional<report::FrontFigures>> frontOf(const ReportRequest &request)
{
    if (!request.frontText.empty()) {
        HALFTONE_TRY(report::FrontFigures front, report::readFront(request.frontText));
        return std::optional(std::move(front));
    }
    if (request.front.empty())
        return std::optional<report::FrontFigures>();
    HALFTONE_TRY(const auto mapped, MappedFile::open(request.front));
    auto front = report::readFront(mapped->text());
    if (!front.ok())
        return inFile(std::move(front).error(), request.front);
    return std::optional(std::move(front).value());
}

void addIfNamed(std::vector<walks::FieldFile> &files, Field field, const std::string &path)
{
    if (!path.empty())
        files.push_back({field, path});
}

} // namespace

Result<std::vector<walks::FieldFile>> reportFiles(const ReportRequest &request)
{
    std::vector<walks::FieldFile> files;
    std::string symbol = request.path;
    std::string params = request.params;
    std::optional<walks::ExampleOptions> data = request.data;
    if (request.path.ends_with(".halftone")) {
        HALFTONE_TRY(const SessionFile file, readSession(request.path));
        files.push_back({Field::Model, request.path});
        symbol = file.modelPath;
        params = file.paramsPath;
        data = data ? data : file.data;
    }
    addIfNamed(files, Field::Model, symbol);
    addIfNamed(files, Field::Model,
               params.empty() ? io::paramsBeside(symbol).value_or(std::string()) : params);
    addIfNamed(files, Field::Policy, request.policyPath);
    if (!request.front.empty())
        files.push_back({Field::None, request.front, "front"});
    if (data) {
        const std::vector<walks::FieldFile> examples = walks::exampleFiles(*data, symbol);
        files.insert(files.end(), examples.begin(), examples.end());
    }
    return files;
}

Result<std::string> makeReport(const ReportRequest &request, const Progress &progress)
{
    HALFTONE_TRY(const std::optional<report::FrontFigures> front, frontOf(request));
    HALFTONE_TRY(Opened opened, openPath(request));
    if (request.data)
        opened.data = request.data;
    HALFTONE_CHECK(takePolicy(request, *opened.document));
    if (opened.data)
        HALFTONE_CHECK(takeShapes(*opened.data, *opened.document));
    HALFTONE_TRY(const std::shared_ptr<const Snapshot> snapshot,
                 Document::derive(opened.document->request(), nullptr, progress));
    if (snapshot->error)
        return *snapshot->error;
    Figures figures;
    if (opened.data) {
        walks::CompareOptions options;
        options.examples = *opened.data;
        options.threads = request.threads;
        options.arithmetic = request.arithmetic;
        options.settings.isolated = true;
        HALFTONE_TRY(walks::CompareOutcome outcome,
                     opened.document->session().compare(*snapshot->converted, options, progress));
        figures.comparison = std::make_shared<const walks::CompareOutcome>(std::move(outcome));
        figures.comparisonRevision = figures.isolatedRevision = snapshot->revision;
    }
    if (request.latency) {
        LatencyMeter meter;
        LatencyOptions options;
        options.threads = request.threads;
        HALFTONE_TRY(LatencyFigures latency, meter.measure(*snapshot, options, progress));
        figures.latency = std::make_shared<const LatencyFigures>(std::move(latency));
        figures.latencyRevision = snapshot->revision;
    }
    HALFTONE_TRY(const std::string picture, graphPicture(*snapshot, progress));
    return reportPage(*snapshot, figures, picture, front ? &*front : nullptr, request.made);
}

} // namespace halftone::session
