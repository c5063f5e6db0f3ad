#pragma once

#include "core/base/band_pattern.h"
#include "core/layout/title_row.h"

#include <string>
#include <utility>
#include <vector>

namespace halftone::layout {

/// A box as it is to be drawn; colours as "#rrggbb", texts in UTF-8 and whole: too long ones are shortened in the middle.
struct SvgItem
{
    enum class Kind
    {
        Node,
        Variable, ///< round ends
        Folded, ///< a block, with the mix of its precisions
        Frame, ///< an open block
    };

    Kind kind = Kind::Node;
    Rect rect;
    std::string title;
    std::string detail;
    std::string badge; ///< "" for none
    std::string band; ///< colour of band and badge
    std::string badgeText; ///< colour
    std::string body;
    std::string border;
    std::string titleColour; ///< "" for the picture's
    BandPattern pattern = BandPattern::None;
    std::vector<std::pair<std::string, double>> mix; ///< colours and shares that add up to 1
    bool warns = false;
    bool isFaint
        = false; ///< small, or of little weight: its title in the second text's colour, and of a block that alone
};

struct SvgDiamond
{
    Point centre;
    std::string colour;
    bool isHollow = false;
};

/// A text on an edge.
struct SvgLabel
{
    Point at; ///< the middle of a framed one; else of its left end
    std::string text;
    std::string frame; ///< colour; "" for none
};

struct SvgPicture
{
    Size size;
    std::string title; ///< for readers of the file's text
    std::string ground = "#ffffff";
    std::string text = "#1b1d21";
    std::string secondText = "#5b6068";
    std::string line = "#83878e";
    double lineHeight = 16; ///< of the larger text
    std::vector<SvgItem> items; ///< in drawing order
    std::vector<Polyline> edges;
    std::vector<SvgDiamond> casts;
    std::vector<SvgLabel> labels{};
};

/// A picture of a graph as one SVG 1.1 document without anything from outside. The same picture gives the same text.
std::string svgOf(const SvgPicture &picture);

} // namespace halftone::layout
