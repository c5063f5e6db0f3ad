#include "widgets/common/document_controller.h"

#include "widgets/common/formatters.h"

namespace halftone::widgets {

DocumentController::DocumentController(QObject *parent)
    : QObject(parent)
{
}

DocumentController::~DocumentController() = default;

void DocumentController::setDocument(std::unique_ptr<session::Document> document)
{
    m_document = std::move(document);
    m_snapshot.reset();
    m_figures = {};
    if (m_document)
        m_snapshot = session::Document::derive(m_document->request(), nullptr).value();
    m_selection.clear();
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
    if (m_document->revision() != before)
        derive();
    return true;
}

void DocumentController::undo()
{
    if (!m_document || !m_document->canUndo())
        return;
    m_document->undo();
    derive();
}

void DocumentController::redo()
{
    if (!m_document || !m_document->canRedo())
        return;
    m_document->redo();
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
    Q_EMIT figuresChanged();
}

void DocumentController::derive()
{
    m_snapshot = session::Document::derive(m_document->request(), m_snapshot.get()).value();
    Q_EMIT snapshotChanged();
}

} // namespace halftone::widgets
