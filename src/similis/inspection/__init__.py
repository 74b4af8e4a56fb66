"""Explanations of predictions by training objects, their influence, and labels that may be wrong."""

from similis.inspection._explain import Explanation, explain
from similis.inspection._labels import SuspiciousLabel, influence, suspicious_labels

__all__ = ["explain", "Explanation", "influence", "suspicious_labels", "SuspiciousLabel"]
