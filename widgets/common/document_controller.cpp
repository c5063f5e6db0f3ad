#include "widgets/common/document_controller.h"

#include "widgets/common/formatters.h"

namespace halftone::widgets {

namespace {

/// Above them an edit is converted beside the window's thread: some 5 ms of work.
constexpr std::size_t kQuickNodes = 10000;
constexpr std::int64_t kQuickParameters = 1000000;

bool isQuick(const session::Document::Request &request)
{
    const graph::Model &model = request.source->model;
    if (!session::isQuickChip(request.policy->hardware))
        return false;
    if (model.graph.nodeCount() > kQuickNodes)
        return false;
    const bool isInt8 = jobs::asksForInt8(*request.policy);
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

DocumentController::DocumentController(QObject *parent)
    : QObject(parent)
{
}

DocumentController::~DocumentController() = default;

void DocumentController::setDocument(std::unique_ptr<session::Document> document)
{
    m_deriving.cancel();
    m_document = std::move(document);
    m_snapshot.reset();
    m_figures = {};
    if (m_document)
        m_snapshot = session::Document::derive(m_document->request(), nullptr).value();
    m_selection.clear();
    m_selection.hover(std::nullopt);
    Q_EMIT documentChanged();
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

session::EditEffect DocumentController::effectOf(const policy::Edit &edit) const
{
    return m_snapshot ? session::Document::effectOf(*m_snapshot, edit) : session::EditEffect();
}

void DocumentController::setFigures(session::Figures figures)
{
    m_figures = std::move(figures);
    const bool isStale = m_document && m_document->setCalibration(m_figures.calibration);
    Q_EMIT figuresChanged();
    if (isStale)
        derive();
}

void DocumentController::derive()
{
    const session::Document::Request request = m_document->request();
    if (isQuick(request)) {
        m_deriving.cancel();
        take(session::Document::derive(request, m_snapshot.get()).value());
        return;
    }
    m_deriving.start(
        [request, before = m_snapshot](std::stop_token stop) {
            return session::Document::derive(request, before.get(), Progress{std::move(stop), {}});
        },
        [this](Result<std::shared_ptr<const session::Snapshot>> derived) {
            if (derived.ok())
                take(std::move(derived).value());
            else if (derived.error().code != Errc::Cancelled)
                Q_EMIT failed(plain(derived.error().message()));
        });
}

void DocumentController::take(std::shared_ptr<const session::Snapshot> snapshot)
{
    m_snapshot = std::move(snapshot);
    Q_EMIT snapshotChanged();
}

} // namespace halftone::widgets
