#pragma once

#include "core/base/hex.h"
#include "core/base/text.h"
#include "core/io/formats.h"
#include "core/io/model_io.h"
#include "tests/support/toy_dialect.h"

#include <array>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

/// Files of the toy dialect, as a row of the table of formats. A model is a text file NAME.toy:
///
///     toy 1
///     Toy.Input x
///     Toy.Dense one x w units=4           an operator, its name, its inputs, its attributes
///     out one
///     array p/w float32 4,1 0000803f…     name, type, shape, bytes
///
/// In a header, as only tests that link core/io can use it.
namespace halftone::test {

inline constexpr std::string_view kToySignature = "toy 1\n";
inline constexpr std::string_view kToyEnding = ".toy";

inline io::Likeness sniffToy(std::span<const std::byte> content, std::string_view)
{
    const std::string_view text(reinterpret_cast<const char *>(content.data()), content.size());
    return text.starts_with(kToySignature) ? io::Likeness::Certain : io::Likeness::None;
}

inline std::vector<std::string> wordsOf(const std::string &line, char separator = ' ')
{
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; std::getline(stream, word, separator);)
        words.push_back(word);
    return words;
}

inline tensor::Array toyArray(const std::vector<std::string> &words)
{
    std::vector<std::int64_t> dims;
    for (const std::string &dim : wordsOf(words[3], ','))
        dims.push_back(parseInteger(dim).value_or(0));
    std::vector<std::byte> bytes;
    for (std::size_t k = 0; k + 1 < words[4].size(); k += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(words[4].substr(k, 2), nullptr, 16)));
    tensor::Array array;
    array.name = words[1];
    array.shape = tensor::Shape(std::move(dims));
    array.values = tensor::Tensor::owning(tensor::dtypeNamed(words[2]).value_or(tensor::DType::Unknown),
                                          array.shape, std::move(bytes));
    return array;
}

inline Result<graph::Entry> addToyNode(graph::Graph &graph, const std::vector<std::string> &words,
                                       const std::map<std::string, graph::Entry> &known)
{
    graph::NodeDef def{words[0], words[1], {}, {}, words[0] == "Toy.Input"};
    std::vector<graph::Entry> inputs;
    for (std::size_t k = 2; k < words.size(); ++k) {
        const std::size_t equals = words[k].find('=');
        const auto input = known.find(words[k]);
        if (equals != std::string::npos)
            def.attributes.set(words[k].substr(0, equals), words[k].substr(equals + 1));
        else if (input != known.end())
            inputs.push_back(input->second);
        else
            return badInput(words[1], "an unknown input " + printable(words[k]));
    }
    return graph::Entry{graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs), 0, 0};
}

inline Result<io::LoadedModel> loadToy(const std::shared_ptr<const MappedFile> &file,
                                       const io::LoadOptions &options, bool &)
{
    io::LoadedModel loaded;
    loaded.modelPath = file->path();
    loaded.files = {file};
    loaded.model.graph = graph::Graph(toyDialect());
    loaded.model.hasParameters = !options.leavesOutParameters();
    std::map<std::string, graph::Entry> known;
    std::vector<graph::Entry> heads;
    std::istringstream lines{std::string(file->text().substr(kToySignature.size()))};
    for (std::string line; std::getline(lines, line);) {
        const std::vector<std::string> words = wordsOf(line);
        if (words.size() == 5 && words[0] == "array") {
            if (loaded.model.hasParameters)
                loaded.model.parameters.push_back(toyArray(words));
        } else if (words.size() == 2 && words[0] == "out" && known.contains(words[1])) {
            heads.push_back(known.at(words[1]));
        } else if (words.size() >= 2 && words[0].starts_with("Toy.")) {
            auto added = addToyNode(loaded.model.graph, words, known);
            if (!added.ok())
                return inFile(std::move(added).error(), file->path());
            known.emplace(words[1], added.value());
        } else {
            return inFile(badInput({}, printable(line), "a line of a toy model"), file->path());
        }
    }
    loaded.model.graph.setHeads(std::move(heads));
    return loaded;
}

inline io::OutputNames toyOutputNames(const std::string &prefix)
{
    const std::string name = prefix.ends_with(kToyEnding) ? prefix : prefix + std::string(kToyEnding);
    return {name, name, {}};
}

inline std::string toyText(const graph::Model &model)
{
    const graph::Graph &graph = model.graph;
    std::string text(kToySignature);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        text += node.op + ' ' + node.name;
        for (const graph::Entry &input : graph.inputs(id))
            text += ' ' + graph.node(input.node).name;
        for (const auto &[key, value] : node.attributes)
            text.append(1, ' ').append(key).append(1, '=').append(value);
        text += '\n';
    }
    for (const graph::Entry &head : graph.heads())
        text += "out " + graph.node(head.node).name + '\n';
    for (const tensor::Array &array : model.parameters) {
        std::string dims;
        for (const std::int64_t dim : array.shape.dims())
            dims += (dims.empty() ? "" : ",") + std::to_string(dim);
        text += "array " + array.name + ' ' + std::string(tensor::nameOf(array.values.dtype())) + ' ' + dims
            + ' ';
        for (const std::byte byte : array.values.bytes())
            text += hexDigits(static_cast<std::uint8_t>(byte), 2);
        text += '\n';
    }
    return text;
}

inline Result<std::vector<std::string>> saveToy(const graph::Model &model, const io::ModelOutput &output,
                                                const io::LoadedModel &source, std::span<const tensor::DType>)
{
    HALFTONE_TRY(AtomicFile file, io::createOutput(output.modelPath(), source));
    HALFTONE_CHECK(file.write(toyText(model)));
    HALFTONE_CHECK(file.commit());
    return std::vector{file.path()};
}

inline const io::ModelFormat &toyFormat()
{
    static constexpr io::ModelFormat kFormat{
        .name = "toy",
        .title = "Toy",
        .model = "a toy model",
        .files = "a toy model",
        .infoName = "toy",
        .placeholder = "MODEL.toy",
        .readHelp = "NAME.toy",
        .writeHelp = "P.toy",
        .ending = kToyEnding,
        .sniff = sniffToy,
        .load = loadToy,
        .outputNames = toyOutputNames,
        .save = saveToy,
    };
    return kFormat;
}

} // namespace halftone::test
