"""The study file: TOML in, a typed and checked study out, every fault listed at once."""

from __future__ import annotations

from evaltui.config.arms import ArmConfig
from evaltui.config.endpoints import EndpointConfig, Price
from evaltui.config.headers import with_headers
from evaltui.config.loading import from_mapping, load
from evaltui.config.narrowing import narrowed
from evaltui.config.scorers import ScorerConfig
from evaltui.config.study import DatasetConfig, StudyConfig, StudySection, dump
from evaltui.config.template import check_templates, insist_templates, render

__all__ = [
    "ArmConfig",
    "DatasetConfig",
    "EndpointConfig",
    "Price",
    "ScorerConfig",
    "StudyConfig",
    "StudySection",
    "check_templates",
    "dump",
    "from_mapping",
    "insist_templates",
    "load",
    "narrowed",
    "render",
    "with_headers",
]
