"""A figure that shows itself."""

import pytest

from hierbandits.reporting.figure import panels
from hierbandits.reporting.picture import Picture


@pytest.fixture
def picture():
    figure, (axes,) = panels(1)
    axes.plot([0, 1], [1, 0])
    return Picture(figure, "a line that falls")


@pytest.mark.parametrize(
    ("name", "begins"), [("a.png", b"\x89PNG"), ("b.SVG", b"<?xml"), ("c.pdf", b"%PDF")]
)
def test_it_is_saved_in_the_format_of_its_name(picture, tmp_path, name, begins):
    picture.save(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_it_shows_itself(picture):
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert repr(picture) == "<Picture: a line that falls>"
    assert repr(Picture(picture.figure)) == "<Picture>"


def test_another_format_is_refused(picture, tmp_path):
    with pytest.raises(ValueError, match=r"path must end in one of .png, .svg, .pdf, got .*a\.gif"):
        picture.save(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []
