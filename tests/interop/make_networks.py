"""Whole networks of GluonCV and GluonNLP as symbols, without weights: make_networks.py FOLDER (needs requirements.txt)

Writes for each a NAME-symbol.json and, for all of them, networks.json: {NAME: {"data": {input: type}, "shapes": {input: shape}}}. Nothing is
downloaded and nothing computed: the blocks are traced on symbols. Detectors and BERT are what mixed precision finds hardest: box arithmetic, indices,
shapes read from tensors, layer normalization, attention.
"""
import json
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
import gluoncv  # noqa: E402
import mxnet as mx  # noqa: E402
from gluonnlp.model import bert  # noqa: E402

PICTURES = {  # name in GluonCV's zoo -> shape of the picture
    "ssd_300_vgg16_atrous_voc": (1, 3, 300, 300),
    "yolo3_mobilenet1.0_voc": (1, 3, 224, 224),
    "faster_rcnn_resnet50_v1b_voc": (1, 3, 300, 400),
    "center_net_mobilenetv3_small_duc_voc": (1, 3, 256, 256),
    "fcn_resnet50_voc": (1, 3, 240, 240),
    "simple_pose_resnet18_v1b": (1, 3, 256, 192),
}
UNITS, LAYERS, HEADS, WORDS, LENGTH = 128, 2, 4, 1000, 32  # of the BERT


def flat(outputs):
    """Nested tuples of symbols as one list."""
    if isinstance(outputs, (list, tuple)):
        return [symbol for output in outputs for symbol in flat(output)]
    return [outputs]


def traced(net, inputs):
    """The symbol that `net` makes of its inputs, as HybridBlock.export would."""
    return mx.sym.Group(flat(net(*(mx.sym.var(name) for name in inputs))))


def networks():
    for name, shape in PICTURES.items():
        net = gluoncv.model_zoo.get_model(name, pretrained=False, pretrained_base=False)
        yield name, net, {"data": shape}
    encoder = bert.BERTEncoder(units=UNITS, hidden_size=4 * UNITS, max_length=4 * LENGTH, num_layers=LAYERS, num_heads=HEADS, dropout=0.0)
    net = bert.BERTModel(encoder, vocab_size=WORDS, token_type_vocab_size=2, units=UNITS, embed_size=UNITS, use_decoder=False,
                         use_classifier=False, use_pooler=True)
    yield "bert", net, {"data0": (2, LENGTH), "data1": (2, LENGTH), "data2": (2,)}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    told = {}
    for name, net, shapes in networks():
        symbol = traced(net, shapes)
        symbol.save(str(folder / f"{name}-symbol.json"))
        told[name] = {"data": {k: "float32" for k in shapes}, "shapes": shapes}
    (folder / "networks.json").write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
