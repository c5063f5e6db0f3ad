#include "core/session/compare.h"

#include "core/runtime/backends.h"
#include "core/runtime/shown_outputs.h"
#include "core/session/compare_parts.h"
#include "core/session/run.h"

#include <algorithm>
#include <chrono>

namespace halftone::session {
namespace {

using profile::LayerCompare;
using profile::Room;

class Comparing
{
public:
    Comparing(LayerCompare compare, const graph::Graph &graph, const ExampleSource &source,
              const CompareOptions &options)
        : m_compare(std::move(compare))
        , m_graph(graph)
        , m_source(source)
        , m_limit(options.settings.memoryLimit)
        , m_count(source.count().value_or(0))
        , m_batch(batchOf(options, source))
        , m_reference(source.labels())
        , m_other(source.labels())
    {
    }

    Result<void> run(const Progress &progress)
    {
        if (m_source.count() && m_count == 0)
            return badInput("--inputs", "no examples", "one or more");
        HALFTONE_CHECK(runFirst(progress));
        for (std::size_t first = m_batch; m_batch > 0 && first < m_count; first += m_batch) {
            HALFTONE_TRY(const Room room, add(first, progress));
            if (room == Room::TooSmall)
                return noRoom();
        }
        return {};
    }

    void tell(CompareOutcome &outcome) const
    {
        outcome.comparison = m_compare.result();
        outcome.examples = m_count;
        outcome.batch = m_batch;
        outcome.reference = m_reference.result();
        outcome.other = m_other.result();
    }

private:
    /// Finds how many examples fit, too. An array without an axis of examples has to fit whole.
    Result<void> runFirst(const Progress &progress)
    {
        for (;;) {
            HALFTONE_TRY(const Room room, add(0, progress));
            if (room == Room::Enough)
                return {};
            if (m_batch <= 1)
                return noRoom();
            m_batch = (m_batch + 1) / 2;
            m_compare.forget();
        }
    }

    Result<Room> add(std::size_t first, const Progress &progress)
    {
        const std::size_t number = m_batch == 0 ? 0 : std::min(m_batch, m_count - first);
        const double all = static_cast<double>(std::max<std::size_t>(m_count, 1));
        const double share = m_batch == 0 ? 1 : static_cast<double>(number) / all;
        const Progress part{progress.stop, [&](double done, std::string_view what) {
                                progress.tell(static_cast<double>(first) / all + share * done, what);
                            }};
        HALFTONE_TRY(const runtime::Feed feed, m_source.batch(first, number));
        HALFTONE_TRY(const Room room, m_compare.add(feed, part));
        if (const auto unclean = m_compare.firstUnclean())
            return uncleanReference(m_graph, *unclean);
        const LayerCompare::Heads &heads = m_compare.heads();
        if (room == Room::Enough && !heads.reference.empty()) {
            m_reference.add(heads.reference[0], first);
            m_other.add(heads.other[0], first);
        }
        return room;
    }

    Error noRoom() const
    {
        const std::string what = m_batch == 0 ? "the inputs" : "one example";
        return unsupported("--memory",
                           std::to_string(m_limit >> 20) + " MB do not hold " + what
                               + " and the values of its layers",
                           "more");
    }

    LayerCompare m_compare;
    const graph::Graph &m_graph; ///< of the reference
    const ExampleSource &m_source;
    std::size_t m_limit;
    std::size_t m_count;
    std::size_t m_batch;
    AccuracyCount m_reference;
    AccuracyCount m_other;
};

} // namespace

std::size_t batchOf(const CompareOptions &options, const ExampleSource &source)
{
    if (!source.count())
        return 0;
    const std::size_t wanted = options.batch > 0 ? options.batch : source.usualBatch();
    return wanted > 0 ? std::min(wanted, *source.count()) : *source.count();
}

Error uncleanReference(const graph::Graph &reference, const profile::LayerErrors &unclean)
{
    return badInput(runtime::valueName(reference, unclean.node, unclean.output),
                    "the float32 run itself gives " + std::to_string(unclean.notFinite)
                        + " NaN or infinite values, first here: no comparison means anything",
                    "finite values");
}

void tellModels(CompareOutcome &outcome, profile::ComparedModels models)
{
    outcome.unmatched = profile::unmatchedNodes(models);
    outcome.outputs = sourceOutputNames(models.reference.graph);
    outcome.models = std::move(models);
}

Result<CompareOutcome> compareModels(profile::ComparedModels models, const std::string &symbolPath,
                                     const CompareOptions &options, const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    const unsigned threads = options.threads > 0 ? options.threads : runtime::machineThreads();
    HALFTONE_TRY(const runtime::BackendChain backends, runtime::backendChain(options.backend, threads));
    HALFTONE_TRY(const auto source, openExamples(options.examples, models.reference.graph, symbolPath));
    HALFTONE_TRY(LayerCompare compare, LayerCompare::create(models, backends, options.settings));
    Comparing comparing(std::move(compare), models.reference.graph, *source, options);
    HALFTONE_CHECK(comparing.run(progress));
    CompareOutcome outcome;
    comparing.tell(outcome);
    tellModels(outcome, std::move(models));
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

} // namespace halftone::session
