"""What must work with nothing but the wheel and NumPy: try_wheel.py MODEL DIGITS POLICY."""
import sys

import numpy

import halftone as ht

model_path, digits_path, policy_path = sys.argv[1:]
model = ht.load(model_path)
data = numpy.load(digits_path)
values = model.run({"data": data["data"]})["prob_output"]
assert not values.flags.owndata
accuracy = (values.argmax(1) == data["labels"]).mean()
assert abs(accuracy - 447 / 450) < 1e-9, accuracy
compared = ht.compare(model, ht.convert(model, policy=policy_path), digits_path)
assert compared.first_divergence == "energy", compared
assert ht.convert(model).save("wheel_lowered") == ["wheel_lowered.onnx"]
print(f"halftone {ht.version()} with Python {sys.version.split()[0]} and NumPy {numpy.__version__}")
