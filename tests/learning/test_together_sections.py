"""Structures and correlations as the page shows them."""

import numpy as np
from support.learn_logs import learned
from support.oracle import random_cov

from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning.correlations import Correlations
from hierbandits.learning.together_sections import draw_correlations, together_sections

CHOICE = StructureChoice(
    {"diagonal": -120.0, "common": -100.0, "full": -101.0},
    {"diagonal": 4, "common": 5, "full": 10},
    2000,
)


def _correlations(size):
    cov = random_cov(np.random.default_rng(0), size)
    std = np.sqrt(np.diagonal(cov))
    names = tuple(f"arm {i}" for i in range(size))
    return Correlations(coordinates=names, matrix=cov / np.outer(std, std), common_std=None)


def test_the_tables_hold_the_numbers():
    similarity, found = learned(True)[2].similarity, _correlations(4)
    structure, correlations = together_sections(found, CHOICE, similarity)
    for section in (structure, correlations):
        assert {len(row) for row in section.rows} == {len(section.columns)}
    assert [row[:1] + row[2:] for row in structure.rows] == [
        ["diagonal", "4", "-120.00", "-20.00", "1.51e-09"],
        ["common", "5", "-100.00", "0.00", "0.731"],
        ["full", "10", "-101.00", "-1.00", "0.269"],
    ]
    assert "odds are e^20 to 1" in structure.words[0]
    assert "2,000 tasks were compared" in structure.words[-1]
    shown = [[float(cell) for cell in row[1:]] for row in correlations.rows]
    np.testing.assert_allclose(shown, found.matrix, atol=0.0051)
    assert [row[0] for row in correlations.rows] == list(found.coordinates)
    assert correlations.words == []


def test_many_arms_are_cut_short():
    similarity, found = learned(True)[2].similarity, _correlations(40)
    (section,) = together_sections(found, None, similarity)
    assert (len(section.rows), len(section.columns), section.brief) == (12, 13, False)
    assert "All correlations are in report.json." in section.words
    assert "the structure that you chose has correlations" in section.words[0].lower()
    assert "correlations are from" in section.words[1]
    assert "The first 24 of 40 arms are shown." in section.caption
    assert len(section.draw().axes[0].get_xticklabels()) == 24


def test_nothing_is_shown_where_nothing_was_asked():
    assert together_sections(None, None, learned(True)[2].similarity) == []
    apart = StructureChoice({"diagonal": 0.0, "full": -9.0}, {"diagonal": 4, "full": 10}, 20)
    (structure,) = together_sections(None, apart, learned(False)[2].similarity)
    assert "the features of a task are not correlated" in structure.words[0]


def test_the_map_is_of_the_matrix():
    found = _correlations(5)
    axes = draw_correlations(found).axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), found.matrix)
    assert axes.images[0].get_clim() == (-1, 1)
    assert [text.get_text() for text in axes.texts] == [f"{v:.2f}" for v in found.matrix.ravel()]
