#include "core/session/document.h"

#include "core/dialect/dialect.h"
#include "core/session/derive.h"
#include "core/session/source_types.h"
#include "core/session/unit_move.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace halftone::session {
namespace {

/// How many operator nodes an edit speaks of.
std::size_t nodesNamed(const Snapshot &snapshot, const policy::Edit &edit, const policy::Policy &after)
{
    const graph::Graph &graph = snapshot.graph();
    const auto count = [&graph](const auto &names, auto member) {
        const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
        std::size_t found = 0;
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
            found += !graph.isVariable(id) && wanted.contains(graph.node(id).*member) ? 1 : 0;
        return found;
    };
    if (const auto *const moved = std::get_if<policy::MoveOperators>(&edit))
        return count(moved->ops, &graph::NodeDef::op);
    if (const auto *const thresholds = std::get_if<policy::SetThresholds>(&edit))
        return thresholds->tensors.size();
    if (const auto *const conditions = std::get_if<policy::SetConditions>(&edit))
        return count(std::vector{conditions->op}, &graph::NodeDef::op);
    const auto *const overridden = std::get_if<policy::OverrideNodes>(&edit);
    const auto *const excluded = std::get_if<policy::ExcludeNames>(&edit);
    const auto *const included = std::get_if<policy::IncludeNames>(&edit);
    if (!overridden && !excluded && !included)
        return 0;
    policy::Policy named = after;
    named.nodeOverrides.clear();
    named.excludedNames = overridden ? overridden->nodes : excluded ? excluded->names : included->names;
    std::vector<policy::Warning> warnings;
    const auto matched = policy::matchNames(named, graph, warnings);
    if (!matched.ok())
        return 0;
    return static_cast<std::size_t>(std::ranges::count_if(
        matched.value().excluded, [&graph](const auto &entry) { return !graph.isVariable(entry.first); }));
}

/// Of a policy that gives no conversion.
std::shared_ptr<const policy::Rules> rulesOf(const policy::Policy &policy, const dialect::Dialect &dialect,
                                             const Snapshot *before)
{
    std::vector<policy::Warning> warnings;
    auto rules = policy::resolve(policy, dialect, warnings);
    if (rules.ok())
        return std::make_shared<const policy::Rules>(std::move(rules).value());
    return before ? before->rules : std::make_shared<const policy::Rules>();
}

/// All but the conversion and its rules.
Snapshot begun(const Document::Request &request, const Snapshot *before)
{
    Snapshot snapshot;
    snapshot.revision = request.revision;
    snapshot.source = request.source;
    snapshot.shapes = request.shapes;
    snapshot.sourceTypes = request.sourceTypes;
    snapshot.units
        = before && before->source == request.source ? before->units : std::make_shared<UnitFinder>();
    snapshot.policy = request.policy;
    snapshot.calibration = request.calibration;
    if (request.calibration && walks::asksForInt8(*request.policy)) {
        const bool isKnown = before && before->ranges && before->ranges->calibration() == request.calibration;
        snapshot.ranges = isKnown ? before->ranges : std::make_shared<walks::RangeCache>(request.calibration);
    } else if (before) {
        snapshot.ranges = before->ranges;
    }
    const dialect::Dialect &dialect = dialect::of(request.source->model.graph);
    const auto lists = policy::builtInLists(dialect, request.policy->target, request.policy->listVersion);
    if (lists.ok())
        snapshot.builtIn = lists.value();
    return snapshot;
}

} // namespace

Document::Document(Session session)
    : m_session(std::move(session))
{
    m_states.push_back({std::make_shared<const policy::Policy>(), {}});
}

Result<std::unique_ptr<Document>> Document::open(const std::string &path, const io::LoadOptions &options,
                                                 const Progress &progress)
{
    HALFTONE_CHECK(progress.checkStop());
    io::LoadOptions stopped = options;
    stopped.stop = progress.stop;
    HALFTONE_TRY(Session session, Session::open(path, stopped));
    return of(std::move(session), progress);
}

Result<std::unique_ptr<Document>> Document::of(Session session, const Progress &progress)
{
    HALFTONE_CHECK(progress.checkStop());
    std::unique_ptr<Document> document(new Document(std::move(session)));
    HALFTONE_CHECK(document->inferShapes());
    HALFTONE_CHECK(progress.checkStop());
    document->inferTypes();
    return document;
}

Result<void> Document::inferShapes()
{
    m_notes = m_session.source().notes;
    HALFTONE_TRY(infer::ShapeMap shapes, m_session.shapes(m_notes));
    m_shapes = std::make_shared<const infer::ShapeMap>(std::move(shapes));
    return {};
}

void Document::inferTypes()
{
    m_sourceTypes = std::make_shared<const infer::TypeMap>(sourceTypes(m_session.source().model, policy()));
}

Result<void> Document::setInputShape(const std::string &name, const tensor::Shape &shape)
{
    Session changed = m_session;
    HALFTONE_CHECK(changed.setInputShape(name, shape));
    std::swap(m_session, changed);
    auto inferred = inferShapes();
    if (!inferred.ok()) {
        std::swap(m_session, changed);
        return inferred;
    }
    m_revision = m_nextRevision++;
    return {};
}

Result<void> Document::apply(const policy::Edit &edit)
{
    HALFTONE_TRY(policy::Policy policy,
                 policy::applyEdit(this->policy(), edit, dialect::of(m_session.source().model.graph)));
    if (policy == this->policy())
        return {};
    m_states.resize(m_current + 1);
    m_states.push_back({std::make_shared<const policy::Policy>(std::move(policy)), policy::describe(edit)});
    goTo(m_current + 1);
    return {};
}

void Document::undo()
{
    assert(canUndo());
    goTo(m_current - 1);
}

void Document::redo()
{
    assert(canRedo());
    goTo(m_current + 1);
}

void Document::goTo(std::size_t state)
{
    const bool haveOtherTypes = m_states[state].policy->inputDtypes != policy().inputDtypes;
    m_current = state;
    m_revision = m_nextRevision++;
    if (haveOtherTypes)
        inferTypes();
}

std::string Document::undoText() const
{
    return canUndo() ? m_states[m_current].what : std::string();
}

std::string Document::redoText() const
{
    return canRedo() ? m_states[m_current + 1].what : std::string();
}

History Document::history() const
{
    History history;
    for (const State &state : m_states)
        history.entries.push_back({*state.policy, state.what});
    history.current = m_current;
    return history;
}

void Document::setHistory(const History &history)
{
    assert(history.current < history.entries.size());
    m_states.clear();
    for (const HistoryEntry &entry : history.entries)
        m_states.push_back({std::make_shared<const policy::Policy>(entry.policy), entry.what});
    m_current = history.current;
    m_revision = m_nextRevision++;
    inferTypes(); // the policy may set the types of inputs
}

Document::Request Document::request() const
{
    return {m_revision,    m_session.sharedSource(),   m_shapes,
            m_sourceTypes, m_states[m_current].policy, m_calibration};
}

bool Document::setCalibration(std::shared_ptr<const walks::CalibrateOutcome> calibration)
{
    if (m_calibration == calibration)
        return false;
    m_calibration = std::move(calibration);
    if (!walks::asksForInt8(policy()))
        return false;
    m_revision = m_nextRevision++;
    return true;
}

std::shared_ptr<const Snapshot> Document::unconverted(const Request &request, const Snapshot *before,
                                                      std::optional<Error> error)
{
    auto snapshot = std::make_shared<Snapshot>(begun(request, before));
    snapshot->error = std::move(error);
    snapshot->converted = before ? before->converted : nullptr;
    snapshot->rules = rulesOf(*request.policy, dialect::of(request.source->model.graph), before);
    return snapshot;
}

Result<std::shared_ptr<const Snapshot>> Document::derive(const Request &request, const Snapshot *before,
                                                         const Progress &progress)
{
    auto snapshot = std::make_shared<Snapshot>(begun(request, before));
    DeriveRequest wanted{request.source->model, request.source->modelPath, *request.policy,
                         request.shapes.get()};
    if (request.calibration)
        wanted.ranges.calibrated = snapshot->ranges;
    wanted.isForAnalysis = true; // it is shown; whoever writes it asks again
    wanted.ranges.isRough = request.isRough;
    if (before && before->source == request.source)
        wanted.before = before->converted.get();
    auto derived = session::derive(wanted, progress);
    if (derived.ok()) {
        snapshot->rules = std::move(derived.value().rules);
        snapshot->converted = std::move(derived.value().converted);
        return std::shared_ptr<const Snapshot>(std::move(snapshot));
    }
    if (derived.error().code == Errc::Cancelled)
        return derived.error();
    return unconverted(request, before, std::move(derived).error());
}

Result<std::shared_ptr<const Snapshot>>
Document::afterEdit(const Snapshot &snapshot, const policy::Edit &edit, const Progress &progress)
{
    HALFTONE_TRY(policy::Policy policy,
                 policy::applyEdit(*snapshot.policy, edit, dialect::of(snapshot.graph())));
    const Request request{snapshot.revision,
                          snapshot.source,
                          snapshot.shapes,
                          snapshot.sourceTypes,
                          std::make_shared<const policy::Policy>(std::move(policy)),
                          snapshot.calibration,
                          false};
    HALFTONE_TRY(std::shared_ptr<const Snapshot> after, derive(request, &snapshot, progress));
    if (after->error)
        return *after->error;
    return after;
}

EditEffect Document::effectOf(const Snapshot &snapshot, const policy::Edit &edit, const Progress &progress)
{
    EditEffect effect;
    effect.castsBefore = effect.castsAfter = snapshot.castCount();
    auto policy = policy::applyEdit(*snapshot.policy, edit, dialect::of(snapshot.graph()));
    if (!policy.ok()) {
        effect.error = std::move(policy).error();
        return effect;
    }
    effect.nodesNamed = nodesNamed(snapshot, edit, policy.value());
    const Request request{snapshot.revision,
                          snapshot.source,
                          snapshot.shapes,
                          snapshot.sourceTypes,
                          std::make_shared<const policy::Policy>(std::move(policy).value()),
                          snapshot.calibration,
                          true};
    const auto derived = derive(request, &snapshot, progress);
    if (!derived.ok() || derived.value()->error) {
        effect.error = derived.ok() ? derived.value()->error : derived.error();
        return effect;
    }
    const Snapshot &after = *derived.value();
    effect.castsAfter = after.castCount();
    for (graph::NodeId id = 0; id < snapshot.graph().nodeCount(); ++id) {
        if (!snapshot.graph().isVariable(id) && snapshot.precisionOf(id) != after.precisionOf(id))
            ++effect.nodesChanged;
    }
    return effect;
}

} // namespace halftone::session
