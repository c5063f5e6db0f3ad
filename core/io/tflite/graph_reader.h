#pragma once

#include "core/graph/model.h"
#include "core/io/file_facts.h"
#include "core/io/tflite/source.h"

#include <cstdint>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace halftone::io::tflite {

/// Reads the first subgraph, which is the model. Nodes bear the name of their first output; tensors that no operator gives are inputs,
/// constants and states, whose values are parameters.
class GraphReader
{
public:
    GraphReader(const Source &source, const schema::SubGraph &graph, std::stop_token stop);

    Result<graph::Model> read();

    // --- after read()
    std::vector<FileFacts::Value> inputs() const { return valuesOf(m_proto.inputs(), "input"); }
    std::vector<FileFacts::Value> outputs() const { return valuesOf(m_proto.outputs(), "output"); }
    /// Operators that are shown and not computed, with the reason.
    const std::map<std::string, std::string> &shownOnly() const { return m_shownOnly; }

private:
    using Indices = flatbuffers::Vector<std::int32_t>;

    Result<void> readTensors();
    void nameTensors();
    Result<void> addInputs();
    Result<void> addOperator(const schema::Operator &op, std::size_t position);
    Result<std::string> operatorName(const schema::Operator &op, const std::string &where) const;
    Result<std::size_t> tensorAt(std::int32_t index, const std::string &where) const;
    Result<graph::Entry> entryOf(std::size_t tensor, const std::string &where);
    Result<graph::Entry> addStored(std::size_t tensor, const std::string &where);
    /// What READ_VARIABLE, ASSIGN_VARIABLE and their like do to resources.
    Result<bool> addVariableOperator(graph::NodeDef &def, const schema::Operator &op,
                                     const std::string &where);
    Result<void> readInitialValues();
    Result<void> count(std::size_t bytes, const std::string &where); ///< adds to m_textBytes
    /// Its body, or why it is not computed.
    void finishNode(graph::NodeDef &def, std::span<const TensorFacts *const> inputs,
                    std::span<const TensorFacts *const> outputs);
    std::string uniqueName(const std::string &wanted);
    std::vector<FileFacts::Value> valuesOf(const Indices *indices, const std::string &kind) const;

    const Source &m_source;
    const schema::SubGraph &m_proto;
    std::stop_token m_stop;
    graph::Model m_model;
    std::vector<TensorFacts> m_tensors;
    std::vector<std::string> m_names; ///< by tensor
    std::vector<std::optional<graph::Entry>> m_entries; ///< by tensor
    std::set<std::string, std::less<>> m_taken;
    std::map<std::string, std::size_t> m_nextSuffix;
    std::map<std::size_t, std::string> m_handles; ///< by tensor of a resource, the variable
    std::map<std::string, graph::Entry> m_variables; ///< the values that they hold now
    std::map<std::string, tensor::Tensor> m_initialValues;
    std::map<std::string, std::string> m_shownOnly;
    std::size_t m_zeroBytes = 0; ///< of states
    std::size_t m_textBytes
        = 0; ///< of names, scales, options and lists, which a file may share and memory does not
    std::size_t m_bodyNodes = 0;
};

} // namespace halftone::io::tflite
