"""A fitted model as a value: a chain of frozen stages, each a function of rows."""

from eigenfeat.stages.affine import Affine
from eigenfeat.stages.chain import Chain, Fitted
from eigenfeat.stages.columns import TreatedColumns
from eigenfeat.stages.feature_map import FeatureMap
from eigenfeat.stages.inputs import BaseMap, WithConstant
from eigenfeat.stages.kernel_expansion import KernelExpansion
from eigenfeat.stages.layer import FeatureLayer, LayerRows, layer_rows
from eigenfeat.stages.outputs import EstimatorScores, GaussianPosteriors, GeometricMean, HuberPosteriors, Softmax
from eigenfeat.stages.stage import Beside, Stage
from eigenfeat.stages.trials import BandPass, FilterBank, SignalPower, UnitPower

__all__ = [
    "Affine",
    "BandPass",
    "BaseMap",
    "Beside",
    "Chain",
    "EstimatorScores",
    "FeatureLayer",
    "FeatureMap",
    "FilterBank",
    "Fitted",
    "GaussianPosteriors",
    "GeometricMean",
    "HuberPosteriors",
    "KernelExpansion",
    "LayerRows",
    "SignalPower",
    "Softmax",
    "Stage",
    "TreatedColumns",
    "UnitPower",
    "WithConstant",
    "layer_rows",
]
