"""Remarks on differences between the published figures and ours: data for the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["IN_SHORT", "NOTES", "Note", "notes_on"]


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
        "The printed errors of tables 6.1-6.8 carry a floor of 1.1 to 2 points that the data described in sec. 6.1 "
        "cannot produce: at d = 200 and p2 = 1/30 the Bayes error is zero to many digits, yet naive Bayes, P-SVM and "
        "SDA all have 1.26. A correct implementation comes out below them. The figures with floor simulate one "
        "candidate cause: each table has one vector of test labels for all runs and all d, while the test objects are "
        "drawn with their own numbers of each class. How many labels the first class has is read from nearest-neighbor "
        "SDA at d = 2, which gives every object to one class, and is not fitted. The cause is inferred, not stated in "
        "the paper; [other mechanisms](findings/floor.md) fit less well. In the committed results the predictions "
        "for the few objects (at most 20 of 1,000) that this vector labels differently from 500 and 500 labels were "
        "not kept, and their expected number of errors stands in.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        quantities=("error",),
        verdicts=("better",),
    ),
    Note(
        "floor of these rows",
        "In these rows the printed figures lie above ours also with the floor simulated. Which rows they are depends "
        "on the random numbers of the paper's label vector and centroids, which all methods of a row share.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        methods=("naive-bayes", "psvm", "knn", "local-nc", "nc", "cnn", "local-sda"),
        quantities=("error with floor",),
        verdicts=("better",),
    ),
    Note(
        "p-svm with vdm",
        "In all thirteen rows our P-SVM is better here, in two of them by more than the rule allows; why is not known. "
        "The paper says neither in how many folds epsilon and C were chosen nor how the matrix was scaled; ours are "
        "five folds, and columns centered and of unit norm.",
        paper="cazzanti2007",
        tables=("6.8",),
        methods=("psvm",),
        quantities=("error with floor",),
        verdicts=("better",),
    ),
    Note(
        "sda at small d",
        "The paper's SDA is worse at small d than its equations. The errors are large where the mean similarity to the "
        "own centroid lies within about one of its maximum. No reading of the text was found that gives the printed "
        "figures (some 45 were tried); ours is the exact solution. The cause is not known.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        methods=("sda",),
        verdicts=("better",),
    ),
    Note(
        "nearest-neighbor limit",
        "Where every object has a twin in its class, the mean of the nearest similarities is the largest possible "
        "value and the model is a point mass. We take that limit; the published figures are those of a run decided "
        "for one class, or of a uniform model. At d = 2 all of them are multiples of 0.1, which means of 20 runs of "
        "1,000 objects would not be: the number of labels is read from them.",
        paper="cazzanti2007",
        tables=_SIMULATED_TABLES,
        methods=("nnsda",),
        conditions=("d=2", "d=4"),
        verdicts=("better", "worse"),
    ),
    Note(
        "mirror images",
        "The example's classes are mirror images of each other: the complements of the samples of class one are those "
        "of class two. Whatever rule (3.36) says of 001 it must therefore say the opposite of 110; both cannot be of "
        "class two. Ours gives 110 to class one.",
        paper="cazzanti2007",
        tables=("3.3.4",),
        verdicts=("differs",),
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
        "data twelve ways to decide tied neighbors, tied votes and tied k make 42 or 43 errors (`python "
        "benchmarks/readings.py`) where 44 are printed.",
        paper="cazzanti2007",
        tables=("6.9", "6.10"),
        methods=("knn", "local-nc", "nc", "sda", "nnsda"),
        verdicts=("better", "worse"),
    ),
    Note(
        "neighbors of each class",
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
        "rows as they are",
        "KRI and KRR weights come from the repaired block among the neighbors. Sec. 4.1 of chen2010 treats new rows as "
        "it treats the training matrix, but the printed figures are those of rows that are left as they are: the "
        "normalized cross entropies 0.5757 (aural sonar) and 0.8243 (votes) come out to the last digit, and KRI with "
        "clip and flip and KRR with flip have 28.3, 29.4 and 32.1 % on the damaged protein matrix, where 30.4 to 31.3 "
        "are printed. Our figures there use that rule. KRR with clip (44.8) and shift (49.5), both printed as 30.35, "
        "are not explained. With consistently treated rows, the default of `SimilarityKNN`, the errors are far lower; "
        "they are listed under the figures that the paper does not print. The errors of kri-knn(clip) on other data in "
        "tables 4.3 and 4.5 and in qiao2013 are still those of consistently treated rows, as the csv table says.",
        datasets=("Protein", "Voting", "Aural Sonar"),
        methods=("kri-knn(clip)", "kri-knn(flip)", "krr-knn(clip)", "krr-knn(flip)", "krr-knn(shift)", "kri-knn"),
    ),
    Note(
        "shift of new rows",
        "Sec. 4.1 leaves new rows as they are where the training matrix is shifted, and so do our figures. The printed "
        "ones come out more nearly when new rows are multiplied by U (L + |l_min|) L^-1 U', which is for shift what "
        'the multiplications of clip and flip are (`SpectrumShift(query="consistent")`): 23.37 on proteins in '
        "table 4.6, where 23.49 is printed and rows as they are give 40.58; in table 5.3 31.00 on aural sonar, where "
        "32.75 is printed and rows as they are give 13.75, and 32.59 on protein-2, where 26.55 is printed and rows as "
        "they are give 56.72; in table 5.6 42.88 on yeast, where 43.50 is printed and rows as they are give 12.25. "
        "Against it speaks that aural sonar would then err 31 % in chapter 4 as well, "
        "and table 4.6, which lists the data sets with a significant difference, does not contain it. The chapters "
        "may differ. What the paper did is not known.",
        paper="chen2010",
        datasets=("Protein", "Protein-2", "Aural Sonar", "Yeast-7-12"),
        methods=("svm-kernel(shift)",),
        verdicts=("better", "worse"),
    ),
    Note(
        "large neighborhoods",
        "Treated as their neighbors are, new rows give about 5 % with 128 neighbors, which the search chooses here,"
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
        "Kernel HLM takes class frequencies as priors, as sec. 3.1 says. With equal priors its error on the damaged "
        "protein matrix is 29.07, the printed figure. That the paper used equal priors is inferred from it; on the "
        "three other sets the errors change by 0 to 1.3 points.",
        paper="qiao2013",
        datasets=("Protein",),
        methods=("kernel-hlm",),
        verdicts=("worse", "better"),
    ),
    Note(
        "shape of a class",
        "One shape s for all classes, the form that sec. 3.1 writes out, suits the damaged matrix badly. With a shape "
        "of its own for each class, which the same section allows, the errors are nearer to the printed ones: 15.8 for "
        "hlm-gknn (14.53 printed), 25.2 for hlm-agg (15.00) and 19.8 for hlm-vsh (23.49); `scripts/reproduce "
        "qiao2013:2 qiao2013:3 --method 'hlm-gknn, own shapes'` and so on runs them. That the paper did so is a guess.",
        paper="qiao2013",
        datasets=("Protein",),
        methods=("hlm-vsh", "hlm-kernel-vsh", "hlm-gknn", "hlm-agg"),
    ),
    Note(
        "folds of the p-svm",
        "The paper chooses epsilon and C by leave-one-out within leave-one-out over 200 pairs, 1.9 million machines on "
        "the votes alone. Ours are chosen in five folds from epsilon 0.1, 0.4, 0.7, 1 and C 1, 51, in the order of the "
        "file only; coefficients stay far below 51, so that larger C give the same machines. Columns of the matrix are "
        "centered and scaled, which the paper does not say and its table 6.6 needs.",
        paper="cazzanti2007",
        tables=("6.9", "6.10"),
        methods=("psvm",),
    ),
    Note(
        "labels inside",
        "The matrix of the votes was made with a value difference metric learned from all labels, those of the test "
        "objects included; the figures of the paper and ours are equally optimistic.",
        paper="chen2010",
        datasets=("Voting",),
    ),
    Note(
        "chosen on the test part",
        "The paper quotes the lowest errors of a few regularizers on the test part; ours are chosen by "
        "cross-validation on the training part. Its printed deviations, far below those of single runs of this size, "
        "are taken for deviations of the mean.",
        paper="pekalska2000",
        methods=("rnlc", "rnqc"),
    ),
    Note(
        "best of the test part",
        "Chosen on the test part, as the paper says it did, the best of ten regularizers is 20.9 % (0.9), at "
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
        "The paper's Gini trees on crabs are worse than scikit-learn's; its trees by entropy agree on the same data. "
        "Not explained.",
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
        "Not explained. Ten widths from 0.01 to 16, on standardized vectors and on vectors divided by 100, in ten "
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
        "linear program",
        "SimSVM itself has no randomness and is solved to its optimum: the paper's three figures for each set come out "
        "to the last printed digit. The linear program depends on which class is called positive, because the random "
        "numbers of a nearly constant eigenvector have all the same sign; the paper does not say. The first class is "
        "taken here, after both were tried: with the other, the intercepts are some 340 % away and the values 2 points "
        "higher. The programs of 50 vectors and more on the votes, 7,000,000 to 30,000,000 non-zeros, were left out.",
        paper="chen2010",
        tables=("5.1", "5.2"),
    ),
    Note(
        "new rows of a learned kernel",
        "The authors' code treats new rows by a heuristic after Eq. (5.9) that the paper does not state; ours projects "
        "them on the range of the learned kernel, the limit of Eq. (5.14) without a self-similarity. Padding with "
        "zeros, Eq. (5.9), gives 26 to 28 % on protein-2 where 18.28 is printed. Not explained.",
        paper="chen2010",
        tables=("5.3",),
        methods=("indefinite-svm",),
        verdicts=("better", "worse"),
    ),
    Note(
        "untreated rows of simsvm",
        "How far untreated rows go wrong depends on which eta and gamma were chosen among equal scores; the first of "
        "the grid are taken here. No choice among them reaches the printed 5.40 on the votes. Not explained.",
        paper="chen2010",
        tables=("5.4",),
        verdicts=("worse", "better"),
    ),
    Note(
        "augmented rows",
        "Among the figures that the paper does not print: each new row modified together with the training matrix, one "
        "decomposition a row, by the anchor's rule.",
        paper="chen2010",
        tables=("5.4",),
    ),
)


def notes_on(cell: dict[str, Any]) -> list[Note]:
    """Return the remarks on one cell of a results file."""
    return [note for note in NOTES if note.fits(cell)]


# What an author of the paper would want to know first.
IN_SHORT = {
    "cazzanti2007": """\
* **Agrees:** the tables of real data (6.9, 6.10) up to ties, the worked examples of sec. 3.1.1, 3.3.7 and 5.3.5, and,
  once an error floor is allowed for, most figures of the eight simulated tables: naive Bayes in every row but three of
  table 6.2.
* **Differs:** without that floor our errors are lower by one to two points at every large d. SDA at small d, the
  mixture column of tables 6.5 and 6.6, P-SVM with VDM in table 6.8 and three errors of CNN are not explained. One of
  seven decisions of sec. 3.3.4 contradicts the symmetry of its example.
* **Found:** one vector of test labels for all runs of a table, with test objects drawn anew, explains the floor better
  than any other mechanism that was tried ([an error floor in eight tables](findings/floor.md)).
* **Marks:** the column `lowest` of the csv table marks, as the paper's bold type does, the lowest error of each row and
  those that the Wilcoxon signed-rank test does not tell from it at 0.05, naive Bayes left aside.""",
    "chen2010": """\
* **Agrees:** nearly all errors of k-NN, affinity k-NN, KRI, KRR, SDA, P-SVM and the SVMs, perplexities and normalized
  cross entropies to the last digit, SimSVM and its linear program.
* **Differs:** shift (what happens to new rows is not known), KRR with clip and shift on proteins, the Indefinite SVM on
  two protein classes, SimSVM with untreated rows on the votes. None of them is explained.
* **Found:** the figures of KRI and KRR in chapter 4 are those of new rows that are left as they are. Treating them as
  sec. 4.1 treats rows for kernels is far better on indefinite data. The [protein matrix](findings/protein.md) of the
  benchmark is damaged.""",
    "qiao2013": """\
* **Agrees:** most errors of the HLM and of the methods it is compared with.
* **Differs:** the HLM on the damaged protein matrix, where separate shapes come nearer to print and equal priors give
  the printed 29.07; the linear and the Gaussian SVM on the vectors of sonar, whose names seem to be exchanged.
* **Aural sonar:** all four HLM mixtures lie 3.75 to 4.5 points above print, each within the rule. Not explained.
* **Not found here:** that scheme I of the incremental HLM wins every round on the votes (figure 1,
  `scripts/reproduce qiao2013:fig1`): in our runs it is lowest in the second round only. That HLM with vertex
  substitution is three times faster than local SDA: here it is slower (`benchmarks/bench_hlm.py`).""",
    "pekalska2000": """\
* **Agrees:** nearly all errors and numbers of support vectors, with Parzen windows whose dimension is the number of
  training objects, which a user with a matrix knows.
* **Differs:** Gini trees on crabs, and RNQC on sonar, which the paper chose on the test part.
* **Note:** the paper's digits cannot be had; scikit-learn's stand in for them and are not judged.""",
    "bernal2003": """\
* **Agrees:** the level of MaxSim and the SVM on wine, Pima, satellite pictures and letters.
* **Differs:** MaxSim on liver disorders, and that MaxSim is better than the SVM on letters with powers of the cosine.
* **The same as the SVM, or slightly better?** SBC errs 2.8 % on wine (SVM 1.7), 22.3 on Pima (22.9) and 28.4 on liver
  disorders (29.9) in five splits with settings chosen on the training part (`python benchmarks/tightness.py`), and 9.1
  on satellite pictures (SVM 8.7 in the same five splits): the same within chance, twice slightly better and twice
  slightly worse. MaxSim errs 2.8, 26.4, 35.9 and 9.2 %, the perceptron 3.3, 24.3, 31.6 and 10.4 %. SBC and the
  perceptron on the 20,000 letters were not run.
* **676 words of two letters:** with four training words per class MaxSim is right in 12.2 %, SBC in 12.0 % and the
  one-vs-one SVM in 13.6 %; MaxSim is 175 times as fast as the SVM here, 24 times in the paper
  (`benchmarks/bench_maxsim.py`).""",
}
