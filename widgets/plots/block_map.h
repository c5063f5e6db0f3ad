#pragma once

#include "widgets/plots/block_grid.h"
#include "widgets/plots/plot_panel.h"

#include <QSharedPointer>

#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QCPColorMap;
class QCPColorScale;
class QCPItemRect;

namespace halftone::widgets {

class RowTicker;

/// The blocks of a model whose blocks repeat, one below the other, with what each consists of side by side: the worst error, the time, the
/// bits or the time saved is a cell's colour. A click selects the cell's layers, a drag takes them to a list.
class BlockMap : public PlotPanel
{
    Q_OBJECT

public:
    enum Quantity
    {
        Error, ///< the lowest SQNR in dB, of layers alone where these are known
        Time, ///< microseconds, as converted
        Bits, ///< of the widest layer
        Gain, ///< microseconds saved by the conversion
        QuantityCount
    };

    explicit BlockMap(DocumentController *controller, QWidget *parent = nullptr);

    void setQuantity(Quantity quantity);
    const BlockGrid &grid() const { return m_grid; }
    std::optional<double> valueAt(std::size_t row, std::size_t column, Quantity quantity) const;
    std::vector<graph::NodeId> nodesAt(std::size_t row, std::size_t column) const;
    QString csv() const override;

protected:
    void rebuild() override;
    void fitAxes() override;
    QString summary() const override;
    QString textAt(const QPointF &place) const override;
    void pick(const QPointF &place) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    struct Cell
    {
        std::size_t row = 0;
        std::size_t column = 0;
    };

    void takeGrid();
    void fill();
    void mark();
    void drag();
    std::optional<Cell> cellAt(const QPointF &place) const;
    QString nameOf(const Cell &cell) const;

    BlockGrid m_grid;
    std::vector<graph::NodeId> m_layers; ///< that the grid counts
    std::weak_ptr<const io::LoadedModel> m_source; ///< whose layers these are
    bool m_hasTypes = false; ///< and the types of what they give were known
    QComboBox *m_choice;
    QCPColorMap *m_map;
    QCPColorScale *m_scale;
    QCPItemRect *m_mark;
    QSharedPointer<RowTicker> m_kinds;
    QSharedPointer<RowTicker> m_blocks;
    std::optional<QPointF> m_dragFrom; ///< where the button was pressed
    bool m_hasValues = false;
};

} // namespace halftone::widgets
