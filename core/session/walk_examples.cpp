#include "core/session/walk_examples.h"

#include "core/graph/traverse.h"
#include "core/runtime/backends.h"
#include "core/runtime/shown_outputs.h"

#include <algorithm>

namespace halftone::session {

Result<std::size_t> walkExamples(const graph::Model &model, const std::string &symbolPath,
                                 const CalibrateOptions &options, const ExampleViewer &viewer,
                                 const Progress &progress)
{
    const unsigned threads = options.threads > 0 ? options.threads : runtime::machineThreads();
    HALFTONE_TRY(const runtime::BackendChain backends, runtime::backendChain(options.backend, threads));
    HALFTONE_TRY(const auto source, openExamples(options.examples, model.graph, symbolPath));
    HALFTONE_TRY(runtime::Interpreter interpreter, runtime::Interpreter::create(model, backends));
    const std::size_t count = source->count().value_or(0);
    if (source->count() && count == 0)
        return badInput("--inputs", "no examples", "one or more");
    const std::size_t wanted = options.batch > 0 ? options.batch : source->usualBatch();
    const std::size_t batch = !source->count() ? 0 : wanted > 0 ? wanted : count;
    const std::size_t batches = batch == 0 ? 1 : (count + batch - 1) / batch;
    const std::vector<std::size_t> shown = runtime::shownOutputs(model.graph);
    const std::vector<graph::NodeId> order = graph::postOrder(model.graph);
    for (std::size_t k = 0; k < batches; ++k) {
        const std::size_t number = batch == 0 ? 0 : std::min(batch, count - k * batch);
        HALFTONE_TRY(const runtime::Feed feed, source->batch(k * batch, number));
        for (const graph::NodeId id : order) {
            const auto fed = model.graph.isVariable(id) ? feed.find(model.graph.node(id).name) : feed.end();
            if (fed != feed.end())
                viewer.see({id, 0, 0}, fed->second);
        }
        runtime::RunOptions run;
        run.progress
            = {progress.stop, [&](double done, std::string_view what) {
                   progress.tell((static_cast<double>(k) + done) / static_cast<double>(batches), what);
               }};
        run.tap = [&](const runtime::NodeValue &value) -> Result<void> {
            for (std::uint32_t i = 0; i < std::min(shown[value.node], value.outputs.size()); ++i)
                viewer.see({value.node, i, 0}, value.outputs[i]);
            return {};
        };
        const auto heads = interpreter.run(feed, run);
        if (viewer.batchDone)
            viewer.batchDone();
        if (!heads.ok())
            return heads.error();
    }
    return count;
}

} // namespace halftone::session
