"""Candidates that are judged over HTTP by workers; `test_evaluation_operations` has the rest."""

import json

from support.local_services import LocalService
from support.shared_stores import SETTINGS

from hierbandits.service.shared_service import SharedService


def test_a_candidate_changes_the_newest_version_whichever_worker_made_it(store_url, tmp_path):
    options = {"kind": SharedService, "store": store_url}
    shop, path = json.loads(SETTINGS["armed"].to_json()), "/policies/shop/evaluations"
    with (
        LocalService(tmp_path / "one", **options) as one,
        LocalService(tmp_path / "two", **options) as two,
    ):
        for draws, status in ((10, 202), (0, 400), (20, 202)):  # a floor needs draws
            one.request("PUT", "/policies/shop", json=shop | {"draws": draws})
            answer = two.request("POST", path, json={"floor": 0.1})
            assert answer.status_code == status, answer.text
        for method, where in (("GET", "none/evaluations/x"), ("POST", "none/evaluations")):
            assert one.request(method, f"/policies/{where}", json={}).status_code == 404
        assert one.request("GET", f"{path}/nothing").status_code == 404
