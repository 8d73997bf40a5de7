"""Schedulers that are wrong on purpose: a check that finds none of them checks nothing."""

from model.planted import bounds, heirs, reports, runs, victims
from model.planted.registry import PLANTED, Planted

__all__ = ["PLANTED", "Planted", "bounds", "heirs", "reports", "runs", "victims"]
