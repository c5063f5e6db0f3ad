#include "widgets/graphview/item_tip.h"

#include "widgets/common/formatters.h"
#include "widgets/graphview/scene_painter.h"

namespace halftone::widgets {

QString tipOf(const SceneItem &item, const ItemLook &look, ColourBy colourBy, const QString &around)
{
    QStringList lines{item.name.toHtmlEscaped(), item.detail.toHtmlEscaped()};
    if (!around.isEmpty())
        lines << QStringLiteral("in ") + around.toHtmlEscaped();
    if (!item.ref.isBlock)
        lines << (look.type == tensor::DType::Unknown
                      ? QStringLiteral("type unknown")
                      : QStringLiteral("computes in ") + plain(std::string(tensor::nameOf(look.type))));
    if (look.asked != tensor::DType::Unknown)
        lines << QStringLiteral("the runtime ran it in ") + plain(std::string(tensor::nameOf(look.ranIn)));
    if (!item.reads.isEmpty())
        lines << QStringLiteral("reads ") + item.reads.toHtmlEscaped();
    if (!item.gives.isEmpty())
        lines << QStringLiteral("gives ") + item.gives.toHtmlEscaped()
                + QStringLiteral(" to ports of that name");
    if (look.share >= 0)
        lines << figureText(colourBy, look.value)
                + (look.isStale ? QStringLiteral(" (of an earlier state)") : QString());
    if (look.warns)
        lines << QStringLiteral("values overflow or are NaN here");
    if (look.castsInside > 0)
        lines << (look.castsInside == 1 ? QStringLiteral("1 inserted cast ")
                                        : QStringLiteral("%1 inserted casts ").arg(look.castsInside))
                + (item.ref.isBlock ? QStringLiteral("within") : QStringLiteral("at its parameters"));
    if (item.ref.isBlock)
        lines << (item.isFrame ? QStringLiteral("double-click to fold")
                               : QStringLiteral("double-click to unfold"));
    return lines.join(QStringLiteral("<br>"));
}

} // namespace halftone::widgets
