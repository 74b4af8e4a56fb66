"""The transcribed figures against cells looked up in the papers by hand, and the shape of every table."""

from collections import Counter

import pytest

from papers import published_cells
from similis.exceptions import ProximityError

# paper, table, data set, part of the condition, method, quantity, printed figure, printed spread
LOOKED_UP = [
    ("cazzanti2007", "3.1.1", "faces example (Fig. 2.1)", {"g": "1", "h": "1"}, "sda", "lambda", "0.73", None),
    ("cazzanti2007", "6.1", "perturbed centroids", {"d": "4"}, "nc", "error", "22.54", None),
    ("cazzanti2007", "6.1", "perturbed centroids", {"d": "200"}, "cnn", "error", "2.67", None),
    ("cazzanti2007", "6.1", "perturbed centroids", {"d": "75"}, "naive-bayes", "error", "1.43", None),
    ("cazzanti2007", "6.3", "perturbed centroids", {"d": "12"}, "local-nc", "error", "6.17", None),
    ("cazzanti2007", "6.5", "perturbed centroids", {"d": "25"}, "nnsda", "error", "3.21", None),
    ("cazzanti2007", "6.5", "perturbed centroids", {"d": "12"}, "mixture-sda", "error", "10.56", None),
    ("cazzanti2007", "6.8", "perturbed centroids", {"d": "175"}, "cnn", "error", "7.18", None),
    ("cazzanti2007", "6.9", "Protein", {}, "psvm", "error", "1.41", None),
    ("cazzanti2007", "6.10", "Voting", {}, "nnsda", "error", "12.18", None),
    ("cazzanti2007", "6.10", "Aural Sonar", {}, "local-sda", "error", "22", None),
    ("chen2010", "4.3", "Aural Sonar", {}, "krr-knn(pinv)", "error", "15.25", 6.22),
    ("chen2010", "4.4", "Patrol", {}, "psvm", "error", "40.42", 5.94),
    ("chen2010", "4.5", "Protein", {}, "affinity-knn", "error", "30.81", 6.61),
    ("chen2010", "4.5", "Voting", {}, "kri-knn(clip)", "error", "5.29", 1.80),
    ("chen2010", "4.6", "Protein", {}, "svm-knn(flip)", "error", "1.74", None),
    ("chen2010", "4.6", "Mirex07", {}, "svm-kernel(shift)", "error", "85.29", None),
    ("chen2010", "4.7", "Caltech-101", {}, "kri-knn", "perplexity", "6.45", None),
    ("chen2010", "4.8", "Face Rec", {}, "affinity-knn", "nce", "0.9436", None),
    ("qiao2013", "2", "Aural Sonar", {}, "kernel-hlm", "error", "13.75", 5.67),
    ("qiao2013", "2", "Voting", {}, "hlm-vsh", "error", "4.89", 2.12),
    ("qiao2013", "5.3", "Sonar", {}, "svm-vectors(linear)", "error", "16.90", 5.05),
    ("qiao2013", "5", "Imagery", {}, "hlm-retrain", "time", "12.54", None),
    ("pekalska2000", "2", "Iris", {"distance": "Euclidean"}, "rnlc", "error", "3.5", 0.4),
    ("pekalska2000", "2", "Sonar", {"distance": "Lp"}, "pfld", "error", "46.0", 1.9),
    ("pekalska2000", "2", "Crabs", {"distance": "Stand."}, "dt-gini", "error", "53.2", 2.2),
    ("bernal2003", "6", "Liver", {"kernel": "polynomial"}, "maxsim", "accuracy", "77.39", None),
    ("bernal2003", "6", "two-letter words", {}, "svm", "time", "1021", None),
]


@pytest.mark.parametrize("paper, table, dataset, condition, method, quantity, printed, spread", LOOKED_UP)
def test_cells_are_as_printed(paper, table, dataset, condition, method, quantity, printed, spread):
    found = [
        cell
        for cell in published_cells(paper, table, method=method, quantity=quantity)
        if cell.dataset == dataset and condition.items() <= cell.condition.items()
    ]
    assert len(found) == 1, found
    assert found[0].printed == printed
    assert found[0].spread == spread
    assert found[0].value == float(printed)


def test_every_cell_is_there_once():
    cells = published_cells()
    keys = Counter(
        (c.paper, c.table, c.dataset, tuple(sorted(c.condition.items())), c.method, c.quantity) for c in cells
    )
    assert max(keys.values()) == 1
    assert Counter(c.paper for c in cells) == {
        "cazzanti2007": 1051,
        "chen2010": 392,
        "qiao2013": 276,
        "pekalska2000": 242,
        "bernal2003": 18,
    }


def test_simulated_tables_are_complete():
    for table, methods in zip(("6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.7", "6.8"), (9, 9, 9, 9, 10, 10, 10, 10)):
        cells = published_cells("cazzanti2007", table)
        assert len(cells) == 13 * methods
        assert len({c.condition["d"] for c in cells}) == 13
        assert all(0 <= c.value <= 60 for c in cells)


def test_rounding_is_half_a_unit_of_the_last_digit():
    (cell,) = published_cells("cazzanti2007", "6.9", method="nc")
    assert cell.rounding == pytest.approx(0.005)
    (cell,) = published_cells("chen2010", "4.8", method="kri-knn")[:1]
    assert cell.rounding == pytest.approx(0.00005)
    cell = published_cells("cazzanti2007", "6.10", method="psvm")[-1]
    assert (cell.printed, cell.rounding) == ("10", 0.5)


def test_unknown_paper_is_one_sentence():
    with pytest.raises(ProximityError, match="paper must be one of"):
        published_cells("nobody1900")
