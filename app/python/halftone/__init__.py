"""Mixed-precision conversion of neural networks: float16, bfloat16 and int8, operator by operator.

    import halftone as ht
    model = ht.load("model.onnx")
    lowered = ht.convert(model, "float16")
    print(ht.compare(model, lowered, "data.npz").first_divergence)
    lowered.save("lowered.onnx")

Failures are exceptions below halftone.Error. Long calls take `progress`, stop within a second on Ctrl-C, and let other threads run.
"""
from ._conversion import Calibration, Conversion, calibrate, convert, quantize
from ._errors import BadCall, BadInput, Error, NoMemory, Unsupported
from ._measure import compare, profile, tune, verify
from ._model import Model, load
from ._results import Comparison, Front, Profile, Verification
from ._tools import backends, hardware, progress, report, show, version

__all__ = ["BadCall", "BadInput", "Calibration", "Comparison", "Conversion", "Error", "Front", "Model", "NoMemory", "Profile", "Unsupported",
           "Verification", "backends", "calibrate", "compare", "convert", "hardware", "load", "profile", "progress", "quantize", "report",
           "show", "tune", "verify", "version"]
