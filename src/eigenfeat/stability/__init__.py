"""How far to trust a spectrum: perturbation and finite-sample bounds, and tests against noise."""

from eigenfeat.stability.bounds import (
    ReconstructionBound,
    SubspaceBound,
    eigenvalue_deviation,
    moment_deviation,
    radius,
    reconstruction_bound,
    subspace_bound,
)
from eigenfeat.stability.crawford import CrawfordNumber, Perturbation, crawford_number, perturbation
from eigenfeat.stability.generalisation import GeneralisationBound, kernel_fisher_bound, output_stability
from eigenfeat.stability.null import Distinguishable, NullPair, distinguishable
from eigenfeat.stability.permutation import permutation_test
from eigenfeat.stability.rank import effective_rank, participation_ratio
from eigenfeat.stability.samples import SampleBounds, sample_bounds
from eigenfeat.stability.summary import (
    StabilitySummary,
    fisher_components,
    pair_components,
    pair_perturbation,
    summarize,
)

__all__ = [
    "CrawfordNumber",
    "Distinguishable",
    "GeneralisationBound",
    "NullPair",
    "Perturbation",
    "ReconstructionBound",
    "SampleBounds",
    "StabilitySummary",
    "SubspaceBound",
    "crawford_number",
    "distinguishable",
    "effective_rank",
    "eigenvalue_deviation",
    "fisher_components",
    "kernel_fisher_bound",
    "moment_deviation",
    "output_stability",
    "pair_components",
    "pair_perturbation",
    "participation_ratio",
    "permutation_test",
    "perturbation",
    "radius",
    "reconstruction_bound",
    "sample_bounds",
    "subspace_bound",
    "summarize",
]
