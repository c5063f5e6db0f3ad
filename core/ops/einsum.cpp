#include "core/ops/einsum.h"

#include "core/ops/shape_slots.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

namespace halftone::ops {
namespace {

/// Labels of the axes that "..." stands for, counted from the last one.
constexpr int kEllipsis = 256;

/// The labels of one term; the dots stand for `dots` axes.
Result<std::vector<int>> readTerm(std::string_view term, std::size_t dots)
{
    std::vector<int> labels;
    bool hasDots = false;
    for (std::size_t i = 0; i < term.size(); ++i) {
        const char c = term[i];
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
            labels.push_back(c);
            continue;
        }
        if (hasDots || term.substr(i, 3) != "...")
            return badAttribute("equation", std::string(term), "letters, and \"...\" at most once");
        hasDots = true;
        for (std::size_t k = dots; k > 0; --k)
            labels.push_back(kEllipsis + static_cast<int>(k));
        i += 2;
    }
    return labels;
}

std::vector<std::string_view> split(std::string_view text)
{
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t comma = text.find(',');
        parts.push_back(text.substr(0, comma));
        if (comma == std::string_view::npos)
            return parts;
        text.remove_prefix(comma + 1);
    }
}

/// Without an arrow: the dots, then the letters that stand there once, in alphabetical order.
std::vector<int> impliedOutput(const EinsumLabels &labels, std::size_t dots)
{
    std::map<int, int> counts;
    for (const std::vector<int> &input : labels.inputs)
        for (const int label : input)
            ++counts[label];
    std::vector<int> output;
    for (std::size_t k = dots; k > 0; --k)
        output.push_back(kEllipsis + static_cast<int>(k));
    for (const auto &[label, count] : counts)
        if (label < kEllipsis && count == 1)
            output.push_back(label);
    return output;
}

} // namespace

Result<EinsumLabels> readEinsum(std::string_view equation, std::span<const std::size_t> ranks)
{
    std::string text(equation);
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    const std::size_t arrow = text.find("->");
    const std::string_view whole = text;
    const std::vector<std::string_view> terms = split(whole.substr(0, arrow));
    if (terms.size() != ranks.size())
        return badAttribute("equation", text,
                            "a term for each of " + std::to_string(ranks.size()) + " inputs");
    EinsumLabels labels;
    std::size_t most = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const bool hasDots = terms[i].find("...") != std::string_view::npos;
        const std::size_t letters = terms[i].size() - (hasDots ? 3 : 0);
        if (hasDots ? letters > ranks[i] : letters != ranks[i])
            return badAttribute("equation", std::string(terms[i]),
                                "a letter for each of the " + std::to_string(ranks[i]) + " axes");
        const std::size_t dots = hasDots ? ranks[i] - letters : 0;
        most = std::max(most, dots);
        HALFTONE_TRY(std::vector<int> term, readTerm(terms[i], dots));
        labels.inputs.push_back(std::move(term));
    }
    if (arrow == std::string::npos) {
        labels.output = impliedOutput(labels, most);
        return labels;
    }
    HALFTONE_TRY(labels.output, readTerm(whole.substr(arrow + 2), most));
    for (const int label : labels.output)
        if (std::ranges::count(labels.output, label) > 1
            || std::ranges::none_of(labels.inputs, [label](const std::vector<int> &input) {
                   return std::ranges::find(input, label) != input.end();
               }))
            return badAttribute("equation", text, "each letter of the result once, and in an input");
    return labels;
}

} // namespace halftone::ops
