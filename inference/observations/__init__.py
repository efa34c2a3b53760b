"""Computed observations: what follows from times, attendees, threads and states alone, with no model."""

from inference.observations.observation import Observation

__all__ = ["Observation"]
