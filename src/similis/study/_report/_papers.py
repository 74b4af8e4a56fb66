"""How to cite the papers behind the methods, by the keys of PAPERS.bib."""

from __future__ import annotations

__all__ = ["PAPERS", "SIMILIS"]

PAPERS = {
    "bernal2003": "A. E. Bernal, K. Hospevian, T. Karadeniz and J.-L. Lassez. Similarity Based Classification. 2003.",
    "cazzanti2007": "L. Cazzanti. Generative Models for Similarity-based Classification. PhD thesis, University of "
    "Washington, 2007.",
    "chen2010": "Y. Chen. Strategies for Similarity-based Learning. PhD thesis, University of Washington, 2010.",
    "pekalska2000": "E. Pękalska and R. P. W. Duin. Classification on dissimilarity data: a first look. 2000.",
    "qiao2013": "M. Qiao and J. Li. Distance-based Mixture Modeling for Classification via Hypothetical Local Mapping. "
    "2013.",
}
SIMILIS = "The similis developers. similis: learning from pairwise similarities. Version {version}."
