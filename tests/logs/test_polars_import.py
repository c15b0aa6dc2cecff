"""polars is asked for by name, and an old one is refused."""

import polars as pl
import pytest

from hierbandits.logs.polars_import import polars_module


def test_polars_is_given_if_it_is_new_enough(monkeypatch):
    assert polars_module() is pl
    monkeypatch.setattr(pl, "__version__", "1.37.0")
    assert polars_module() is pl
    for old in ("1.36.1", "0.99.0"):
        monkeypatch.setattr(pl, "__version__", old)
        with pytest.raises(ImportError, match=f"polars 1.37 or later, got {old}"):
            polars_module()
