"""Remarks on differences between the published figures and ours: data for the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["NOTES", "Note", "notes_on"]


@dataclass(frozen=True)
class Note:
    """A remark on some comparisons; an empty field fits all.

    Attributes
    ----------
    mark : str
        Name of the remark in a table.
    text : str
        The remark, with what is established, inferred and unknown.
    paper, tables, datasets, methods, quantities, verdicts, conditions
        Comparisons that it is about; `conditions` are texts ``key=value`` of which one must hold.
    """

    mark: str
    text: str
    paper: str = ""
    tables: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()

    def fits(self, cell: dict[str, Any]) -> bool:
        """True if the remark is about this cell of a results file."""
        held = {f"{key}={value}" for key, value in cell["condition"].items()}
        return (
            self.paper in ("", cell["paper"])
            and (not self.tables or cell["table"] in self.tables)
            and (not self.datasets or cell["dataset"] in self.datasets)
            and (not self.methods or cell["method"] in self.methods)
            and (not self.quantities or cell["quantity"] in self.quantities)
            and (not self.verdicts or cell["verdict"] in self.verdicts)
            and (not self.conditions or bool(held & set(self.conditions)))
        )


# The simulated and leave-one-out tables of cazzanti2007.
_SIMULATED_TABLES = ("6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.7", "6.8")

_SIMULATED_NOTES = (
    Note(
        "floor",
        "The published error rates of tables 6.1-6.8 carry a floor of about 1.3 to 2 points that the data described "
        "in sec. 6.1 cannot produce: at d = 200 and p2 = 1/30 the Bayes error is zero to many digits, yet naive Bayes, "
        "PSVM and SDA all stand at 1.26. A correct implementation comes out below them. The columns with the floor "
        "simulate one candidate cause: test labels assigned by exact halves to samples drawn in random numbers, "
        "1.26 points on average. That cause is inferred, not stated in the paper.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        quantities=("error",),
        verdicts=("better",),
    ),
    Note(
        "larger floor",
        "The published floor is larger in places than the 1.26 points simulated here, about 1.7 to 2 points where "
        "p2 = 1/4: whole rows of the paper, naive Bayes included, sit higher. No single cause fits all tables.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        methods=("naive-bayes", "psvm", "knn", "local-nc", "nc", "cnn", "local-sda"),
        quantities=("error with floor",),
        verdicts=("better",),
    ),
    Note(
        "higher rows",
        "In these rows the paper's naive Bayes, too, lies above ours with the floor: by 0.6 points in table 6.3 at "
        "d = 200, by 2.1 and 1.3 in table 6.8 at d = 50 and 100. Less that, the difference is within three standard "
        "errors.",
        paper="cazzanti2007",
        tables=("6.3", "6.8"),
        methods=("nnsda", "mixture-sda"),
        quantities=("error with floor",),
        verdicts=("better",),
        conditions=("d=50", "d=100", "d=200"),
    ),
    Note(
        "p-svm with vdm",
        "In seven of the nine rows from d = 25 on our P-SVM is better here by 1.6 to 3.7 points also with the floor, "
        "by more than naive Bayes is; why is not known. The paper says neither in how many folds epsilon and C were "
        "chosen nor how the matrix was scaled; ours are five folds, and columns centred and of unit norm.",
        paper="cazzanti2007",
        tables=("6.8",),
        methods=("psvm",),
        quantities=("error with floor",),
        verdicts=("better",),
    ),
    Note(
        "sda at small d",
        "The paper's SDA is worse at small d than its equations. The pattern, large errors where the mean similarity "
        "to the own centroid lies within about one of its maximum, suggests a solver that stopped early. No reading "
        "of the text was found that gives the published figures (some 45 were tried); ours is the exact solution.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        methods=("sda",),
        verdicts=("better",),
    ),
    Note(
        "nearest-neighbour limit",
        "Where every object has a twin in its class, the mean of the nearest similarities is the largest possible "
        "value and the model is a point mass. We take that limit; the published figures are those of a run decided "
        "for one class, or of a uniform model. At d = 2 all of them are multiples of 0.1, which means of 20 runs of "
        "1,000 objects would not be; ours is 50.00 there with the floor, as every object is given to one class and "
        "exactly half the labels are the other's.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        methods=("nnsda",),
        conditions=("d=2", "d=4"),
        verdicts=("better", "worse"),
    ),
    Note(
        "mixture",
        "The published mixture column jumps from row to row in table 6.5 and is far higher than ours in table 6.6 from "
        "d = 25 on; no reading was found that gives it.",
        paper="cazzanti2007",
        tables=("6.5", "6.6"),
        methods=("mixture-sda",),
        verdicts=("better", "worse"),
    ),
    Note(
        "small d",
        "At d = 2, 4 and 8 the random centroids dominate: a whole row moves together, by more than the standard "
        "error of its cells says, because all methods see the same centroids.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        verdicts=("better", "worse"),
        conditions=("d=2", "d=4", "d=8"),
    ),
    Note(
        "ties",
        "Leave-one-out on the paper's own objects: only ties are left open. Ours is for the order of the file; the "
        "paper's order and its rules for tied similarities and tied centroids are not known. For k-NN on the protein "
        "data twelve ways to decide tied neighbours, tied votes and tied k make 42 or 43 errors (`python "
        "benchmarks/readings.py`) where 44 are printed.",
        paper="cazzanti2007",
        tables=("6.9", "6.10"),
        methods=("knn", "local-nc", "nc", "sda", "nnsda"),
        verdicts=("better", "worse"),
    ),
    Note(
        "neighbours of each class",
        "With the k nearest of each class instead of the k nearest, leave-one-out within leave-one-out makes 18 errors "
        "on the protein data, 8.45 %, where 19 are printed (k = 60 is chosen for 208 of 213 objects), and 25 on aural "
        "sonar, where 22 are printed. Sec. 4.1 calls the local class 'the subset of the k nearest neighbors from class "
        "h', which can be read so; its priors n_h / k, and what it says of Mitani and Hamamoto, cannot. With the k "
        "nearest, nothing that was tried makes fewer than 29 errors at the best k: least class sizes 1 to 5, both "
        "priors, smoothing, a continuous Omega, weighted means, a diagonal of zeros. What the paper did is inferred.",
        paper="cazzanti2007",
        tables=("6.9",),
        datasets=("Protein",),
        methods=("local-sda",),
        verdicts=("better", "worse"),
    ),
)

NOTES = (
    *_SIMULATED_NOTES,
    Note(
        "damaged protein",
        "The benchmark's protein matrix is damaged: in 1,509 of 22,578 pairs a distance of 10 or more lost its ten. "
        "The papers' figures belong to the damaged matrix, which is used here too (protein_uw).",
        datasets=("Protein", "Protein RBF", "Protein-2"),
    ),
    Note(
        "clean protein",
        "The same objects, splits and orders with the correct distances. No paper has figures for them; ours show what "
        "the damage costs each method.",
        datasets=("Protein, clean",),
    ),
    Note(
        "consistent treatment",
        "Clip and flip treat a new object's similarities by the same projection as its neighbours' block, as sec. 4.1 "
        "of chen2010 asks for kernels. The published 30 % come out when new rows are left as they are and the grid "
        "of KRR reaches 10^6 as that of KRI does: plain loops over six splits then give 28.7, 29.1 and 28.7 % for "
        "clip, flip and shift, equal for clip and shift as in print. That this is what the paper did is inferred.",
        datasets=("Protein",),
        methods=("kri-knn(clip)", "kri-knn(flip)", "krr-knn(clip)", "krr-knn(flip)", "krr-knn(shift)"),
        verdicts=("better", "worse"),
    ),
    Note(
        "shift of new rows",
        "Sec. 4.1 leaves new rows as they are where the training matrix is shifted, and so do we: at best "
        "about 41 % over all C, because the damaged matrix tells the two large classes apart by negative eigenvectors "
        "only. The published figures come out when new rows are multiplied by U (L + |l_min|) L^-1 U', which is for "
        "shift what the multiplications of clip and flip are: plain loops over 20 other splits give 21.9 % (printed "
        "23.49), and for table 5.3 30.2 % on two protein classes (26.55), 29.5 % on aural sonar (32.75) and 6.0 % on "
        "the votes (5.00), against 55.0, 14.8 and 5.8 % with rows as they are. That the paper did so is inferred.",
        paper="chen2010",
        datasets=("Protein", "Protein-2", "Aural Sonar"),
        methods=("svm-kernel(shift)",),
        verdicts=("better", "worse"),
    ),
    Note(
        "large neighbourhoods",
        "Treated as their neighbours are, new rows give about 5 % with 128 neighbours, which the search chooses here,"
        " and 13 to 16 % with 64 (plain loops over four splits); left as they are, 30 % at best. The printed 11.86 "
        "lies between; which sizes the paper's search chose is not known.",
        datasets=("Protein",),
        methods=("svm-knn(clip)",),
        verdicts=("better", "worse"),
    ),
    Note(
        "self-similarity of sonar",
        "The paper gives an object 'an appropriate upper bound' of the reciprocal distances as its similarity to "
        "itself. Ours is the largest of them, 5.7. With 20 instead, six splits give 21.8 % for the linear machine on "
        "rows and 19.4 % for clip (printed 20.60 and 19.29), with 100 about 30 %: the paper's bound seems to be "
        "larger than ours.",
        paper="qiao2013",
        datasets=("Sonar",),
        methods=("svm-kernel(clip)", "svm-features(linear)", "svm-features(rbf)", "svm-knn(clip)", "psvm"),
        verdicts=("better", "worse"),
    ),
    Note(
        "names exchanged",
        "On the raw vectors the Gaussian machine is the better one here; the paper says the linear one is. With the "
        "two names exchanged its figures, 16.90 and 20.00, agree with ours within the rule. That they were exchanged "
        "is inferred; the values tried for C and gamma are not printed.",
        paper="qiao2013",
        tables=("5.3",),
        verdicts=("better", "worse"),
    ),
    Note(
        "priors of proteins",
        "With equal priors for the four classes of 72, 72, 39 and 30 objects Kernel HLM has 31.0 % wrong on twenty "
        "other splits, against 40.7 % with their frequencies, which sec. 3.1 takes. That the printed figure comes from "
        "equal priors is a guess.",
        paper="qiao2013",
        datasets=("Protein",),
        methods=("kernel-hlm",),
        verdicts=("worse", "better"),
    ),
    Note(
        "shape of a class",
        "One shape s for all classes, the form that sec. 3.1 writes out, suits the damaged matrix badly. With a shape "
        "of its own for each class eight splits give 16 % for vertex substitution with two components and 20 % for "
        "k-medoids with eight, against 31 and 35 % with one for all. That the printed figures come from separate "
        "shapes, which the same section allows, is a guess. Single runs spread widely, in print (12.59 and 13.00 "
        "points) and here.",
        paper="qiao2013",
        datasets=("Protein",),
        methods=("hlm-vsh", "hlm-kernel-vsh", "hlm-gknn", "hlm-agg"),
        verdicts=("worse", "better"),
    ),
    Note(
        "folds of the p-svm",
        "The paper chooses epsilon and C by leave-one-out within leave-one-out over 200 pairs, 1.9 million machines on "
        "the votes alone. Ours are chosen in five folds from epsilon 0.1, 0.4, 0.7, 1 and C 1, 51, in the order of the "
        "file only; coefficients stay far below 51, so that larger C give the same machines. Columns of the matrix are "
        "centred and scaled, which the paper does not say and its table 6.6 needs.",
        paper="cazzanti2007",
        tables=("6.9", "6.10"),
        methods=("psvm",),
    ),
    Note(
        "fourth digit",
        "Without ties the rule leaves no room beyond the printed digits. The paper does not say which spectrum "
        "modification stands behind this row, nor how far its weights were iterated; ours are clip, solved to "
        "the optimum.",
        paper="chen2010",
        tables=("4.8",),
        methods=("kri-knn",),
        verdicts=("worse", "better"),
    ),
    Note(
        "labels inside",
        "The matrix of the votes was made with a value difference metric learnt from all labels, those of the test "
        "objects included; the figures of the paper and ours are equally optimistic.",
        paper="chen2010",
        datasets=("Voting",),
    ),
    Note(
        "chosen on the test part",
        "The paper quotes the lowest errors of a few regularisers on the test part; ours are chosen by "
        "cross-validation on the training part. Its printed deviations, far below those of single runs of this size, "
        "are taken for deviations of the mean.",
        paper="pekalska2000",
        methods=("rnlc", "rnqc"),
    ),
    Note(
        "best of the test part",
        "Chosen on the test part, as the paper says it did, the best of ten regularisers is 20.9 % (0.9), at "
        "0.03, where 21.4 is printed; 0.01 and 0.1 give 22.9 and 25.1 %. Cross-validation on 105 objects does not "
        "find it. `python benchmarks/readings.py` shows it.",
        paper="pekalska2000",
        datasets=("Sonar",),
        methods=("rnqc",),
        verdicts=("worse",),
    ),
    Note(
        "dimension of the likelihood",
        "The width maximizes a leave-one-out likelihood in which a dimension stands; the paper does not say which one "
        "it took. Ours is the number of training objects, the default of `Parzen`, which is known from the matrix "
        "alone. It was chosen after the figures were seen, because it agrees with all 14 of them. On Crabs the "
        "dimensions 1, 2, 3, 5, 10, 50 and 100 give 67.7, 64.7, 63.4, 61.6, 58.1, 49.6 and 48.9 % for parzen-f "
        "(`python benchmarks/readings.py`): 5 is that of the original vectors, 100 the number of training objects.",
        paper="pekalska2000",
        methods=("parzen-f", "parzen-r"),
    ),
    Note(
        "trees",
        "The paper's trees choose at random among equally good splits, mostly objects of the first classes as it says; "
        "scikit-learn's are better here.",
        paper="pekalska2000",
        methods=("dt-max", "dt-gini"),
        verdicts=("better",),
    ),
    Note(
        "levels",
        "Single splits with the best of several settings, by the paper's own words; a third held out is inferred from "
        "the fractions that fit its figures. Ours are means over ten splits with settings chosen on the training part: "
        "only the level can be compared.",
        paper="bernal2003",
        tables=("6",),
    ),
    Note(
        "liver",
        "Not explained. Ten widths from 0.01 to 16, on standardised vectors and on vectors divided by 100, in ten "
        "splits: the best single split of the best width has 70.4 % right, where 77 is printed (`python "
        "benchmarks/readings.py`). Powers of the cosine do no better here.",
        paper="bernal2003",
        datasets=("Liver",),
        methods=("maxsim",),
        verdicts=("worse",),
    ),
    Note(
        "powers of the cosine",
        "Not explained. The paper raises the inner product of vectors of length one to powers that it does not "
        "print. Ours are vectors with a constant appended, which keeps their lengths, then scaled to length one. "
        "Without the constant, in two splits with 6,000 letters to learn from, MaxSim has 91.6 and 89.7 % right "
        "at its best degree, with it 92.5 and 91.2; support vectors 94.5 and 93.8 without, 94.9 and 95.0 with "
        "(`python benchmarks/readings.py`). That MaxSim should be better than support vectors here, as printed, "
        "came out with neither.",
        paper="bernal2003",
        datasets=("Letter",),
        methods=("maxsim", "svm"),
        verdicts=("better", "worse"),
    ),
    Note(
        "letters",
        "Two thirds of the 20,000 letters train; 1,500 of them choose the parameters. At first the degrees ended at "
        "64, which MaxSim chose in every split (93.1 % right), and the widths at 0.5. Both were continued after that "
        "was seen, to degrees of 512 and widths of 0.125.",
        paper="bernal2003",
        datasets=("Letter",),
    ),
    Note(
        "sequences",
        "The paper's splice sites and start sites cannot be had. It prints one range, 92 to 100 %, for both and all "
        "three methods. 900 splice junctions of three classes and 106 promoters stand in, compared by the "
        "positions in which they differ.",
        paper="bernal2003",
        datasets=("Splice junctions", "Promoters"),
    ),
    Note(
        "digits",
        "The NIST images and their contour distance cannot be had. The 1,797 digits of 8 x 8 pixels that come with "
        "scikit-learn, by Euclidean distance, stand in for them: smaller, cleaner images and another distance, so only "
        "the order of the methods can be looked at.",
        paper="pekalska2000",
        datasets=("Digits, 8 x 8",),
    ),
    Note(
        "linear programme",
        "SimSVM itself has no randomness and is solved to its optimum: the paper's three figures for each set come out "
        "to the last printed digit. The linear programme depends on which class is called positive, because the random "
        "numbers of a nearly constant eigenvector have all the same sign; the paper does not say. The first class is "
        "taken here, after both were tried: with the other, the intercepts are some 340 % away and the values 2 points "
        "higher. The programmes of 50 vectors and more on the votes, 7,000,000 to 30,000,000 non-zeros, were left out.",
        paper="chen2010",
        tables=("5.1", "5.2"),
    ),
    Note(
        "new rows of a learnt kernel",
        "The authors' code treats new rows by a heuristic after Eq. (5.9) that the paper does not state; ours projects "
        "them on the range of the learnt kernel, the limit of Eq. (5.14) without a self-similarity.",
        paper="chen2010",
        tables=("5.3",),
        methods=("indefinite-svm",),
        verdicts=("better", "worse"),
    ),
    Note(
        "scale of new rows",
        "How far untreated rows go wrong depends on what the search chose. Equal scores go to the first point of the "
        "grid here, the smallest eta and gamma, where the multipliers are large: rows that are not multiplied as well "
        "are then too small beside the intercept, and most objects fall to one side. How the paper chose among equals "
        "is not known.",
        paper="chen2010",
        tables=("5.4",),
        verdicts=("worse", "better"),
    ),
    Note(
        "augmented rows",
        "Beside the paper's two figures stands a third: each new row modified together with the training matrix, one "
        "decomposition a row, by the anchor's rule (clip; flip for protein), since learnt multipliers belong to the "
        "training matrix only. It is compared with the paper's figure for consistently modified rows.",
        paper="chen2010",
        tables=("5.4",),
    ),
)


def notes_on(cell: dict[str, Any]) -> list[Note]:
    """Return the remarks on one cell of a results file."""
    return [note for note in NOTES if note.fits(cell)]
