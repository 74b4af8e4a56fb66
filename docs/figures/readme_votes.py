"""Draws docs/figures/votes.png, the picture of the README: python docs/figures/readme_votes.py"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot

from similis import VDM
from similis.datasets import load_votes
from similis.proximity import EmbeddingDisplay, HistogramDisplay, MatrixDisplay, SpectrumDisplay

data = load_votes()
votes, party = data.data, np.asarray(data.target_names)[data.target]
S = VDM(similarity=True).fit(votes, party).matrix(votes)
figure, axes = pyplot.subplots(1, 4, figsize=(17, 4), layout="constrained")
MatrixDisplay.from_proximity(S, party, ax=axes[0])
SpectrumDisplay.from_proximity(S, ax=axes[1])
EmbeddingDisplay.from_proximity(S, party, ax=axes[2])
HistogramDisplay.from_proximity(S, party, ax=axes[3])
titles = (
    "435 members of congress, pair by pair",
    "its spectrum, before and after repair",
    "the same objects on two axes",
)
for ax, title in zip(axes, (*titles, "similarities within and between parties")):
    ax.set_title(title, fontsize=11)
figure.savefig(Path(__file__).with_name("votes.png"), dpi=70)
