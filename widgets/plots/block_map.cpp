#include "widgets/plots/block_map.h"

#include "core/tensor/dtype.h"
#include "widgets/common/choice_box.h"
#include "widgets/common/constant_nodes.h"
#include "widgets/common/drag_label.h"
#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/models/csv_field.h"
#include "widgets/models/list_payload.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/layer_blocks.h"

#include <QApplication>
#include <QDrag>
#include <QMimeData>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <unordered_set>

namespace halftone::widgets {
namespace {

constexpr double kMapHighestDb = 120;
constexpr int kColours = 64;

QColor ofShare(double share, bool isReversed, bool isOnDark)
{
    return sequentialColour(isReversed ? 1 - share : share, isOnDark);
}

} // namespace

/// Names at whole numbers from 0 on, as many as there is room for.
class RowTicker : public QCPAxisTicker
{
public:
    explicit RowTicker(const QCPAxis *axis)
        : m_axis(axis)
    {
        setTickOrigin(0);
    }
    void setNames(const QStringList &names) { m_names = names; }

protected:
    double getTickStep(const QCPRange &range) override
    {
        const QCPAxisRect *const rect = m_axis->axisRect();
        const int room = m_axis->orientation() == Qt::Horizontal ? rect->width() : rect->height();
        const double each = room / std::max(range.size(), 1.0);
        const double line = QFontMetrics(m_axis->tickLabelFont()).lineSpacing();
        return std::max(1.0, std::ceil(line / std::max(each, 1e-9)));
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale &, QChar, int) override
    {
        const auto at = static_cast<qsizetype>(std::lround(tick));
        return at >= 0 && at < m_names.size() ? m_names[at] : QString();
    }

private:
    const QCPAxis *m_axis;
    QStringList m_names;
};

BlockMap::BlockMap(DocumentController *controller, QWidget *parent)
    : PlotPanel(controller, tr("Layers by block and kind"), parent)
    , m_choice(new ChoiceBox(this))
    , m_map(new QCPColorMap(plot()->xAxis, plot()->yAxis))
    , m_scale(new QCPColorScale(plot()))
    , m_mark(new QCPItemRect(plot()))
    , m_kinds(new RowTicker(plot()->xAxis))
    , m_blocks(new RowTicker(plot()->yAxis))
{
    m_choice->addItems({tr("error"), tr("time"), tr("bits"), tr("time saved")});
    m_choice->setAccessibleName(tr("Colour of the blocks"));
    m_choice->setToolTip(tr("What the colour of a cell shows"));
    addControl(m_choice);
    connect(m_choice, &QComboBox::activated, this, &PlotPanel::refresh);

    plot()->setInteractions(QCP::Interactions()); // a drag takes layers to a list
    plot()->xAxis->setTicker(m_kinds);
    plot()->yAxis->setTicker(m_blocks);
    plot()->xAxis->setTickLabelRotation(30);
    plot()->yAxis->setRangeReversed(true); // the first block above
    for (QCPAxis *const axis : {plot()->xAxis, plot()->yAxis}) {
        axis->setSubTicks(false);
        axis->grid()->setVisible(false);
    }
    m_map->setInterpolate(false);
    m_map->removeFromLegend();
    plot()->plotLayout()->addElement(0, 1, m_scale);
    m_scale->setType(QCPAxis::atRight);
    m_scale->setBarWidth(10);
    m_scale->setRangeDrag(false);
    m_scale->setRangeZoom(false);
    m_map->setColorScale(m_scale);
    auto *const beside = new QCPMarginGroup(plot()); // as high as the map
    for (QCPLayoutElement *const element :
         {static_cast<QCPLayoutElement *>(m_scale), static_cast<QCPLayoutElement *>(plot()->axisRect())})
        element->setMarginGroup(QCP::msTop | QCP::msBottom, beside);
    m_mark->setSelectable(false);
    m_mark->setBrush(Qt::NoBrush);
    m_mark->setVisible(false);
    connect(plot(), &QCustomPlot::mousePress, this, [this](QMouseEvent *event) {
        m_dragFrom = event->button() == Qt::LeftButton ? std::optional(event->position()) : std::nullopt;
    });
    connect(plot(), &QCustomPlot::mouseRelease, this, [this] { m_dragFrom.reset(); });
    connect(plot(), &QCustomPlot::mouseMove, this, [this](QMouseEvent *event) {
        const auto cell = cellAt(event->position());
        const std::vector<graph::NodeId> nodes
            = cell ? nodesAt(cell->row, cell->column) : std::vector<graph::NodeId>();
        this->controller()->selection().hover(nodes.empty() ? std::nullopt : std::optional(nodes.front()));
        if (m_dragFrom && event->buttons().testFlag(Qt::LeftButton)
            && (event->position() - *m_dragFrom).manhattanLength() >= QApplication::startDragDistance())
            drag();
    });
}

void BlockMap::setQuantity(Quantity quantity)
{
    m_choice->setCurrentIndex(quantity);
    refresh();
}

void BlockMap::takeGrid()
{
    const auto &snapshot = controller()->snapshot();
    const bool hasTypes = snapshot->sourceTypes != nullptr;
    if (m_source.lock() == snapshot->source && m_hasTypes == hasTypes)
        return;
    m_source = snapshot->source;
    m_hasTypes = hasTypes;
    m_layers.clear();
    QStringList names;
    const graph::Graph &graph = snapshot->graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id) || isConstantNode(graph, id) || !givesReals(*snapshot, id))
            continue;
        m_layers.push_back(id);
        names << plain(graph.node(id).name);
    }
    m_grid = blockGrid(names);
    QStringList kinds = m_grid.kinds;
    for (QString &kind : kinds)
        kind = kind.isEmpty() ? tr("other") : kind;
    m_kinds->setNames(kinds);
    m_blocks->setNames(m_grid.blocks);
}

void BlockMap::rebuild()
{
    const auto &snapshot = controller()->snapshot();
    if (!snapshot) {
        showEmpty(tr("Open a model to see its blocks."));
        return;
    }
    takeGrid();
    if (m_grid.isEmpty()) {
        showEmpty(tr("The names of this model's layers do not number blocks that repeat."));
        return;
    }
    fill();
    mark();
    showPlot();
    replot();
    styleAxis(m_scale->axis());
}

std::vector<graph::NodeId> BlockMap::nodesAt(std::size_t row, std::size_t column) const
{
    std::vector<graph::NodeId> nodes;
    for (const std::size_t layer : m_grid.at(row, column))
        nodes.push_back(m_layers[layer]);
    return nodes;
}

std::optional<double> BlockMap::valueAt(std::size_t row, std::size_t column, Quantity quantity) const
{
    const session::Snapshot &snapshot = *controller()->snapshot();
    const auto &figures = controller()->figures().nodes;
    std::optional<double> value;
    std::unordered_set<std::uint32_t> seen; // steps: what is fused counts once
    std::unordered_set<std::uint32_t> seenWide;
    const auto add = [&value](double one) { value = value.value_or(0) + one; };
    for (const graph::NodeId node : nodesAt(row, column)) {
        if (quantity == Bits) {
            const tensor::DType type = snapshot.precisionOf(node);
            const int packed = tensor::packedBits(type);
            const double bits = packed > 0 ? packed : 8.0 * static_cast<double>(tensor::sizeOf(type));
            if (bits > 0)
                value = std::max(value.value_or(0), bits);
            continue;
        }
        if (node >= figures.size())
            continue;
        const session::NodeFigures &known = figures[node];
        if (quantity == Error) {
            const auto &error = known.isolated ? known.isolated : known.cumulative;
            if (error)
                value
                    = std::min(value.value_or(kMapHighestDb),
                               std::isnan(error->sqnrDb) ? 0 : std::clamp(error->sqnrDb, 0.0, kMapHighestDb));
            continue;
        }
        if (known.mixed && seen.insert(known.mixed->step).second)
            add(quantity == Time ? known.mixed->microseconds : -known.mixed->microseconds);
        if (quantity == Gain && known.fp32 && known.mixed && seenWide.insert(known.fp32->step).second)
            add(known.fp32->microseconds);
    }
    return value;
}

void BlockMap::fill()
{
    const auto quantity = static_cast<Quantity>(m_choice->currentIndex());
    const auto rows = static_cast<std::size_t>(m_grid.blocks.size());
    const auto columns = static_cast<std::size_t>(m_grid.kinds.size());
    // A map of one row or column has no range: a second one stays empty.
    const int width = std::max(2, static_cast<int>(columns));
    const int height = std::max(2, static_cast<int>(rows));
    QCPColorMapData &cells = *m_map->data();
    cells.setSize(width, height);
    cells.setRange(QCPRange(0, width - 1), QCPRange(0, height - 1));
    cells.fill(std::numeric_limits<double>::quiet_NaN());
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            const auto value = valueAt(row, column, quantity);
            if (!value)
                continue;
            cells.setCell(static_cast<int>(column), static_cast<int>(row), *value);
            least = std::min(least, *value);
            most = std::max(most, *value);
        }
    }
    m_hasValues = least <= most;
    m_scale->setVisible(m_hasValues);
    if (!m_hasValues)
        least = most = 0;
    if (quantity == Time)
        least = 0;
    if (most - least < 1e-9)
        most = least + 1;
    const bool isOnDark = isDark(palette());
    const bool isBadBelow = quantity == Error;
    QCPColorGradient gradient;
    gradient.clearColorStops();
    gradient.setLevelCount(kColours);
    constexpr int kStops = 8;
    for (int k = 0; k <= kStops; ++k) {
        const double share = k / static_cast<double>(kStops);
        gradient.setColorStopAt(share, ofShare(share, isBadBelow, isOnDark));
    }
    gradient.setNanHandling(QCPColorGradient::nhTransparent);
    m_map->setGradient(gradient);
    m_map->setDataRange(QCPRange(least, most));
    const QString units[] = {tr("dB, worst"), tr("\u00b5s"), tr("bits"), tr("\u00b5s saved")};
    m_scale->setLabel(units[quantity]);
}

void BlockMap::mark()
{
    m_mark->setVisible(false);
    const auto current = controller()->selection().current();
    const auto layer = current ? std::ranges::lower_bound(m_layers, *current) : m_layers.end();
    if (layer == m_layers.end() || *layer != *current)
        return;
    const auto index = static_cast<std::size_t>(layer - m_layers.begin());
    const auto columns = static_cast<std::size_t>(m_grid.kinds.size());
    for (std::size_t k = 0; k < m_grid.cells.size(); ++k) {
        if (!std::ranges::binary_search(m_grid.cells[k], index))
            continue;
        const auto row = static_cast<double>(k / columns);
        const auto column = static_cast<double>(k % columns);
        m_mark->topLeft->setCoords(column - 0.5, row - 0.5);
        m_mark->bottomRight->setCoords(column + 0.5, row + 0.5);
        m_mark->setPen(QPen(markColour(), 2));
        m_mark->setVisible(true);
    }
}

void BlockMap::fitAxes()
{
    plot()->xAxis->setRange(-0.5, static_cast<double>(m_grid.kinds.size()) - 0.5);
    plot()->yAxis->setRange(-0.5, static_cast<double>(m_grid.blocks.size()) - 0.5);
}

QString BlockMap::summary() const
{
    if (m_hasValues || m_grid.isEmpty())
        return {};
    return m_choice->currentIndex() == Error
        ? tr("Attach data and turn on \u201cerrors\u201d to colour the blocks.")
        : tr("Turn on \u201clatency\u201d to colour the blocks.");
}

std::optional<BlockMap::Cell> BlockMap::cellAt(const QPointF &place) const
{
    if (m_grid.isEmpty() || !plot()->axisRect()->rect().contains(place.toPoint()))
        return std::nullopt;
    const double column = std::round(plot()->xAxis->pixelToCoord(place.x()));
    const double row = std::round(plot()->yAxis->pixelToCoord(place.y()));
    if (!(column >= 0) || !(row >= 0) || column >= static_cast<double>(m_grid.kinds.size())
        || row >= static_cast<double>(m_grid.blocks.size()))
        return std::nullopt;
    return Cell{static_cast<std::size_t>(row), static_cast<std::size_t>(column)};
}

QString BlockMap::nameOf(const Cell &cell) const
{
    const QString &kind = m_grid.kinds[static_cast<qsizetype>(cell.column)];
    const QString &block = m_grid.blocks[static_cast<qsizetype>(cell.row)];
    return kind.isEmpty() ? block : block + QStringLiteral(" \u00b7 ") + kind;
}

QString BlockMap::textAt(const QPointF &place) const
{
    const auto cell = cellAt(place);
    if (!cell || m_grid.at(cell->row, cell->column).empty())
        return {};
    const auto quantity = static_cast<Quantity>(m_choice->currentIndex());
    const auto value = valueAt(cell->row, cell->column, quantity);
    const QString figure = !value ? QStringLiteral("\u2013")
        : quantity == Error       ? tr("%1 dB at worst").arg(decibels(*value))
        : quantity == Bits        ? tr("%1 bits").arg(*value)
        : quantity == Time        ? tr("%1 \u00b5s").arg(microseconds(*value))
                                  : tr("%1 \u00b5s saved").arg(microseconds(*value));
    return tr("%1: %2, layers: %3").arg(nameOf(*cell), figure).arg(m_grid.at(cell->row, cell->column).size());
}

void BlockMap::pick(const QPointF &place)
{
    const auto cell = cellAt(place);
    std::vector<graph::NodeId> nodes = cell ? nodesAt(cell->row, cell->column) : std::vector<graph::NodeId>();
    if (nodes.empty())
        return;
    const graph::NodeId first = nodes.front();
    controller()->selection().set(std::move(nodes), first);
}

/// What the pointer was pressed on, to whichever list takes it.
void BlockMap::drag()
{
    const auto cell = cellAt(*m_dragFrom);
    m_dragFrom.reset();
    const std::vector<graph::NodeId> nodes
        = cell ? nodesAt(cell->row, cell->column) : std::vector<graph::NodeId>();
    if (nodes.empty())
        return;
    ListPayload payload;
    for (const graph::NodeId node : nodes)
        payload.nodes.push_back(controller()->snapshot()->graph().node(node).name);
    auto *const mime = new QMimeData;
    writePayload(payload, *mime);
    auto *const drag = new QDrag(plot()); // Qt deletes it when the drag is over
    drag->setMimeData(mime);
    drag->setPixmap(dragLabel(nameOf(*cell), *plot()));
    drag->setHotSpot(kBesidePointer);
    drag->exec(Qt::CopyAction | Qt::MoveAction, Qt::CopyAction);
}

bool BlockMap::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == plot() && event->type() == QEvent::Leave)
        controller()->selection().hover(std::nullopt);
    return PlotPanel::eventFilter(watched, event);
}

QString BlockMap::csv() const
{
    QString text = QStringLiteral("block,kind,layers,worst_sqnr_db,mixed_us,bits,saved_us\r\n");
    const auto columns = static_cast<std::size_t>(m_grid.kinds.size());
    for (std::size_t k = 0; k < m_grid.cells.size(); ++k) {
        if (m_grid.cells[k].empty())
            continue;
        text += csvField(m_grid.blocks[static_cast<qsizetype>(k / columns)]) + QLatin1Char(',')
            + csvField(m_grid.kinds[static_cast<qsizetype>(k % columns)]) + QLatin1Char(',')
            + QString::number(m_grid.cells[k].size());
        for (const Quantity quantity : {Error, Time, Bits, Gain}) {
            const auto value = valueAt(k / columns, k % columns, quantity);
            text += QLatin1Char(',') + (value ? QString::number(*value, 'g', 9) : QString());
        }
        text += QStringLiteral("\r\n");
    }
    return text;
}

} // namespace halftone::widgets
