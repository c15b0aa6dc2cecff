"""MNIST fetched by scikit-learn's own fetcher, from a server on this machine.

The server stands in for openml.org: the fetcher's `urlopen` is pointed there.  That the real site
serves the original images cannot be tested without a network; a checksum refuses anything else.
"""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
import pytest
from support.digit_images import assert_loaded, pass_for_mnist

from hierbandits.environments import images
from hierbandits.environments.images import LABELS, PICTURES, load


@pytest.fixture
def tiny(monkeypatch):
    return pass_for_mnist(monkeypatch)


class _OpenML(HTTPServer):
    """A stand-in for openml.org that offers one data set under the name mnist_784."""

    def __init__(self, pictures, labels):
        super().__init__(("127.0.0.1", 0), _Answers)
        pixels = [f"pixel{i + 1}" for i in range(784)]
        rows = [",".join(map(str, [*x.ravel(), y])) for x, y in zip(pictures, labels, strict=True)]
        head = ["@RELATION mnist_784", *(f"@ATTRIBUTE {name} REAL" for name in pixels)]
        classes = "@ATTRIBUTE class {0,1,2,3,4,5,6,7,8,9}"
        self.arff = "\n".join([*head, classes, "@DATA", *rows, ""]).encode()
        self.md5 = hashlib.md5(self.arff).hexdigest()
        self.size = len(labels)
        self.asked = []
        no = {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        self.columns = [
            no | {"index": str(i), "name": name, "data_type": "numeric", "is_target": "false"}
            for i, name in enumerate(pixels)
        ]
        target = {"index": "784", "name": "class", "data_type": "nominal", "is_target": "true"}
        self.columns.append(no | target | {"nominal_value": list("0123456789")})

    def answer(self, path):
        if "/list/data_name/mnist_784" in path:
            return {"data": {"dataset": [{"did": 554, "name": "mnist_784", "version": "1"}]}}
        if "/features/" in path:
            return {"data_features": {"feature": self.columns}}
        if "/qualities/" in path:
            quality = [{"name": "NumberOfInstances", "value": str(self.size)}]
            return {"data_qualities": {"quality": quality}}
        url = "https://www.openml.org/data/v1/download/52667/mnist_784.arff"
        about = {"id": "554", "name": "mnist_784", "version": "1", "status": "active"}
        about |= {"format": "ARFF", "file_id": "52667", "url": url, "md5_checksum": self.md5}
        return {"data_set_description": about | {"description": "a stand-in"}}


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        is_data = "/download/" in self.path
        content = (
            self.server.arff if is_data else json.dumps(self.server.answer(self.path)).encode()
        )
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def openml(tiny, tmp_path, monkeypatch):
    """The stand-in, with twelve more rows than the training set, as OpenML has its test set."""
    more = np.concatenate([tiny[PICTURES], tiny[PICTURES][:12]])
    server = _OpenML(more, np.concatenate([tiny[LABELS], tiny[LABELS][:12]]))

    def to_the_stand_in(request):
        path = urlsplit(request.full_url).path
        return urlopen(Request(f"http://127.0.0.1:{server.server_port}{path}"))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", to_the_stand_in)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_mnist_is_fetched_once_and_kept(openml, tiny, tmp_path):
    assert_loaded(load(), tiny)
    assert any("/download/" in path for path in openml.asked)
    kept = {path.name for path in (tmp_path / "hierbandits-mnist").iterdir()}
    assert kept == {f"{PICTURES}.gz", f"{LABELS}.gz"}
    openml.asked.clear()
    assert_loaded(load(), tiny)
    assert not openml.asked


def test_a_download_of_other_images_is_refused(openml, tmp_path, monkeypatch):
    monkeypatch.setitem(images.SHA256, LABELS, "0" * 64)
    with pytest.raises(
        ValueError, match=r"what openml.org sent to .*openml is not MNIST's: the sha256"
    ):
        load()
    assert not (tmp_path / "hierbandits-mnist" / f"{LABELS}.gz").exists()


def test_a_damaged_download_is_refused(openml):
    openml.arff = openml.arff[:-100]
    with (
        pytest.warns(RuntimeWarning, match="redownloading"),
        pytest.raises(ValueError, match=r"could not be fetched .*md5.*give a folder .*digits8x8"),
    ):
        load()


def test_without_a_network_the_ways_out_are_said(tmp_path, monkeypatch):
    def unreachable(request):
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between its attempts
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    with (
        pytest.warns(UserWarning, match="network error"),
        pytest.raises(ValueError, match=r"could not be fetched .*no route.*give a folder .*8x8"),
    ):
        load()
