#include "halftone/report.h"

#include "core/api/inside.h"
#include "core/infer/stored_types.h"
#include "core/layout/first_view.h"
#include "core/results/layout_json.h"
#include "core/session/export.h"
#include "core/session/graph_picture.h"
#include "core/session/report_data.h"

#include "halftone/version.h"

#include <chrono>

namespace halftone::api {
namespace {

layout::Detail detailOf(const PictureOptions &options)
{
    return options.folded && !options.allNodes ? layout::Detail::Computed : layout::Detail::Everything;
}

session::Snapshot snapshotOf(const Conversion &conversion)
{
    const auto &content = Inside::of(conversion);
    session::Snapshot snapshot;
    snapshot.source = Inside::sessionOf(conversion.source()).sharedSource();
    snapshot.shapes = std::make_shared<const infer::ShapeMap>(content.shapes);
    snapshot.policy = std::make_shared<const policy::Policy>(content.derived.converted->policy);
    snapshot.rules = content.derived.rules;
    snapshot.converted = content.derived.converted;
    return snapshot;
}

} // namespace

Result<std::string> reportPage(const Model &model, const ReportOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<std::string> {
        session::ReportRequest request;
        request.opened = Inside::sessionOf(model);
        HALFTONE_TRY(request.policy, policyOf(options.policy));
        if (options.data.isGiven()) {
            HALFTONE_TRY(request.data, examplesOf(options.data));
        }
        request.threads = options.threads;
        request.latency = options.latency;
        request.arithmetic = options.arithmetic == Arithmetic::Mxnet ? backends::Arithmetic::Runtime
                                                                     : backends::Arithmetic::Defined;
        if (options.front)
            request.frontText = options.front->report();
        request.made = session::madeLine(HALFTONE_VERSION);
        return session::makeReport(request, progressOf(progress));
    });
}

Result<std::string> picture(const Conversion &conversion, const PictureOptions &options,
                            const Progress &progress)
{
    return answer([&] {
        return session::graphPicture(snapshotOf(conversion), progressOf(progress), options.folded,
                                     detailOf(options));
    });
}

Result<std::string> picture(const Model &model, const PictureOptions &options, const Progress &progress)
{
    return answer([&] {
        session::Snapshot snapshot;
        snapshot.source = Inside::sessionOf(model).sharedSource();
        snapshot.policy = std::make_shared<const policy::Policy>();
        if (auto types = infer::storedTypes(snapshot.source->model); types.ok())
            snapshot.sourceTypes = std::make_shared<const infer::TypeMap>(std::move(types).value());
        return session::graphPicture(snapshot, progressOf(progress), options.folded, detailOf(options));
    });
}

Result<std::string> layoutReport(const Model &model, const PictureOptions &options, const Progress &progress)
{
    return answer([&]() -> halftone::Result<std::string> {
        const graph::Model &shown = Inside::graphModelOf(model);
        const auto begin = std::chrono::steady_clock::now();
        HALFTONE_TRY(const layout::FirstView view,
                     layout::firstView(shown, options.folded, detailOf(options), progressOf(progress)));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        return textOf(results::layoutJson(shown.graph, view, took.count()));
    });
}

} // namespace halftone::api
