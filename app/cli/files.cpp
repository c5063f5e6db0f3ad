#include "app/cli/files.h"

#include "app/cli/fields.h"

namespace halftone::cli {

CommandFiles &CommandFiles::reads(const std::string &what, const std::string &path)
{
    if (!path.empty())
        m_reads.push_back({what, path});
    return *this;
}

CommandFiles &CommandFiles::reads(const std::vector<NamedFile> &files)
{
    m_reads.insert(m_reads.end(), files.begin(), files.end());
    return *this;
}

CommandFiles &CommandFiles::reads(const ModelOptions &model)
{
    return reads(model.files());
}

CommandFiles &CommandFiles::reads(const walks::ExampleOptions &examples, const ModelOptions &model)
{
    return reads(namedFiles(walks::exampleFiles(examples, model.model)));
}

CommandFiles &CommandFiles::writes(const std::string &what, const std::string &path)
{
    if (!path.empty())
        m_writes.push_back({what, path});
    return *this;
}

Result<void> CommandFiles::check() const
{
    return checkOutputs(m_reads, m_writes);
}

Result<io::ModelOutput> CommandFiles::claim(const std::string &prefix, const std::string &model) const
{
    HALFTONE_TRY(io::ModelOutput output, io::ModelOutput::claim(prefix, io::outputFormat(prefix, model)));
    CommandFiles all = *this;
    std::vector<NamedFile> files{{"--out", output.modelPath()}};
    if (!output.valuesPath().empty())
        files.push_back({"--out", output.valuesPath()});
    // Before the other outputs, which are then told that they are the model.
    all.m_writes.insert(all.m_writes.begin(), files.begin(), files.end());
    HALFTONE_CHECK(all.check());
    return output;
}

} // namespace halftone::cli
