"""ONNX Runtime on the CPU, without the optimisations that change graphs."""
import onnxruntime

onnxruntime.set_default_logger_severity(4)


class Refused(Exception):
    """ONNX Runtime does not take a graph."""


def session(model):
    """model: a file's name, or a ModelProto."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model if isinstance(model, str) else model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of half a dozen classes, RuntimeError among them
        raise Refused(" ".join(str(error).split())[:400]) from error


def run(model, feeds):
    """The outputs, in order."""
    made = session(model)
    try:
        return made.run(None, {i.name: feeds[i.name] for i in made.get_inputs()})
    except Exception as error:
        raise Refused(" ".join(str(error).split())[:400]) from error
