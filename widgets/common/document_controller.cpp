#include "widgets/common/document_controller.h"

#include "widgets/common/formatters.h"

#include <mutex>
#include <optional>

namespace halftone::widgets {

namespace {

/// Above them an edit is converted beside the window's thread: some 5 ms of work.
constexpr std::size_t kQuickNodes = 10000;
constexpr std::int64_t kQuickParameters = 1000000;

constexpr int kPollMs = 50;

/// Whether a graph has more nodes than these, those of bodies of control flow included.
bool hasMoreNodes(const graph::Graph &graph, std::size_t &left)
{
    if (graph.nodeCount() > left)
        return true;
    left -= graph.nodeCount();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const auto &body : graph.node(id).subgraphs)
            if (hasMoreNodes(*body, left))
                return true;
    return false;
}

bool isQuick(const session::Document::Request &request)
{
    const graph::Model &model = request.source->model;
    if (!session::isQuickChip(request.policy->hardware))
        return false;
    std::size_t left = kQuickNodes;
    if (hasMoreNodes(model.graph, left))
        return false;
    const bool isInt8 = walks::asksForInt8(*request.policy);
    if (!request.policy->castParams.value_or(false) && !isInt8)
        return true;
    if (isInt8 && request.calibration) // thresholds may have to be searched for
        return false;
    std::int64_t values = 0;
    for (const tensor::Array &array : model.parameters)
        values += array.shape.elementCount().value_or(0);
    return values <= kQuickParameters;
}

} // namespace

struct DocumentController::Told
{
    std::mutex lock;
    double share = 0;
    std::string what;

    static Progress progress(const std::shared_ptr<Told> &told, std::stop_token stop)
    {
        return {std::move(stop), [told](double share, std::string_view what) {
                    const std::scoped_lock guard(told->lock);
                    told->share = share;
                    told->what = what;
                }};
    }
};

DocumentController::DocumentController(QObject *parent)
    : QObject(parent)
{
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, [this] {
        const std::scoped_lock guard(m_told->lock);
        Q_EMIT derivingProgressed(m_told->share,
                                  m_told->what.empty() ? tr("converting") : plain(m_told->what));
    });
}

DocumentController::~DocumentController() = default;

void DocumentController::setDocument(std::unique_ptr<session::Document> document)
{
    struct Before
    {
        std::unique_ptr<session::Document> document;
        std::shared_ptr<const session::Snapshot> snapshot;
        session::Figures figures;
    };
    auto before = std::make_shared<Before>(
        Before{std::move(m_document), std::move(m_snapshot), std::exchange(m_figures, {})});
    m_deriving.cancel();
    m_document = std::move(document);
    if (m_document) {
        const session::Document::Request request = m_document->request();
        if (isQuick(request)) {
            m_snapshot = session::Document::derive(request, nullptr).value();
        } else {
            m_snapshot = session::Document::unconverted(request, nullptr, std::nullopt);
            deriveBeside(request);
        }
    }
    m_selection.clear();
    m_selection.hover(std::nullopt);
    Q_EMIT documentChanged();
    setDeriving(m_deriving.isRunning());
    // By now nobody here holds it any more.
    if (before->document)
        m_discarding.start(
            [before = std::move(before)](const std::stop_token &) mutable {
                before.reset();
                return true;
            },
            [](bool) {});
}

bool DocumentController::apply(const policy::Edit &edit)
{
    if (!m_document)
        return false;
    const std::uint64_t before = m_document->revision();
    const auto applied = m_document->apply(edit);
    if (!applied.ok()) {
        Q_EMIT editRefused(plain(applied.error().message()));
        return false;
    }
    if (m_document->revision() == before)
        return true;
    Q_EMIT edited();
    derive();
    return true;
}

void DocumentController::undo()
{
    if (!m_document || !m_document->canUndo())
        return;
    m_document->undo();
    Q_EMIT undone();
    derive();
}

void DocumentController::redo()
{
    if (!m_document || !m_document->canRedo())
        return;
    m_document->redo();
    Q_EMIT redone();
    derive();
}

bool DocumentController::setInputShapes(const std::vector<std::pair<std::string, tensor::Shape>> &shapes)
{
    if (!m_document)
        return false;
    const std::uint64_t before = m_document->revision();
    for (const auto &[name, shape] : shapes) {
        const auto set = m_document->setInputShape(name, shape);
        if (!set.ok()) {
            Q_EMIT editRefused(plain(set.error().message()));
            break;
        }
    }
    if (m_document->revision() == before)
        return false;
    derive();
    return true;
}

bool DocumentController::convertsAtOnce() const
{
    return isQuick(m_document->request());
}

void DocumentController::setFigures(session::Figures figures)
{
    m_figures = std::move(figures);
    const bool isStale = m_document && m_document->setCalibration(m_figures.calibration);
    Q_EMIT figuresChanged();
    if (isStale)
        derive();
}

void DocumentController::stopDeriving()
{
    if (!isDeriving())
        return;
    m_deriving.cancel();
    take(session::Document::unconverted(m_document->request(), m_snapshot.get(), cancelled()));
    setDeriving(false);
}

void DocumentController::resumeDeriving()
{
    if (m_snapshot && m_snapshot->error && !isDeriving())
        derive();
}

void DocumentController::derive()
{
    const session::Document::Request request = m_document->request();
    if (!isQuick(request)) {
        deriveBeside(request);
        setDeriving(true);
        return;
    }
    m_deriving.cancel();
    take(session::Document::derive(request, m_snapshot.get()).value());
    setDeriving(false);
}

void DocumentController::deriveBeside(const session::Document::Request &request)
{
    m_told = std::make_shared<Told>();
    m_deriving.start(
        [request, before = m_snapshot, told = m_told](std::stop_token stop) {
            return session::Document::derive(request, before.get(), Told::progress(told, std::move(stop)));
        },
        [this, request](Result<std::shared_ptr<const session::Snapshot>> derived) {
            take(derived.ok()
                     ? std::move(derived).value()
                     : session::Document::unconverted(request, m_snapshot.get(), std::move(derived).error()));
            setDeriving(m_deriving.isRunning());
        });
}

void DocumentController::setDeriving(bool isDeriving)
{
    if (isDeriving)
        m_poll.start();
    else
        m_poll.stop();
    if (std::exchange(m_isDeriving, isDeriving) != isDeriving)
        Q_EMIT derivingChanged();
}

void DocumentController::take(std::shared_ptr<const session::Snapshot> snapshot)
{
    m_snapshot = std::move(snapshot);
    Q_EMIT snapshotChanged();
}

} // namespace halftone::widgets
