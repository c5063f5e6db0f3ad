#include "app/cli/fields.h"

#include <array>
#include <string>

namespace halftone::cli {

std::string_view optionOf(Field field)
{
    using namespace std::string_view_literals;
    constexpr std::array kOptions{
        ""sv,
        "MODEL"sv,
        "--params"sv,
        "policy"sv, // options and a file together
        "--target"sv,
        "--mode"sv,
        "--target-op"sv,
        "--fp32-op"sv,
        "--widest-op"sv,
        "--neutral-op"sv,
        "--int8-op"sv,
        "--conditional"sv,
        "--exclude"sv,
        "--exclude-op"sv,
        "--override"sv,
        "--input"sv,
        "--shape"sv,
        "--inputs"sv,
        "--preprocess"sv,
        "--labels"sv,
        "--examples"sv,
        "--batch"sv,
        "--layers"sv,
        "--effect"sv,
        "--memory"sv,
        "--backend"sv,
        "--opset"sv,
        "--hardware"sv,
        "--accumulate"sv,
        "--optimise"sv,
        "--weights"sv,
        "--method"sv,
        "--form"sv,
    };
    static_assert(kOptions.size() == static_cast<std::size_t>(Field::WeightForm) + 1);
    return kOptions[static_cast<std::size_t>(field)];
}

std::vector<NamedFile> namedFiles(std::span<const walks::FieldFile> files)
{
    std::vector<NamedFile> named;
    for (const walks::FieldFile &file : files)
        named.push_back(
            {file.word.empty() ? std::string(optionOf(file.field)) : "--" + std::string(file.word),
             file.path});
    return named;
}

} // namespace halftone::cli
