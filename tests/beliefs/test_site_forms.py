"""Every form of hierarchies has loops that match sites."""

import numpy as np
from support.family_worlds import FORMS, hierarchy

from hierbandits.beliefs.site_forms import MATCHES, site_form_of


def test_every_form_has_loops():
    forms = [site_form_of([hierarchy(form, np.random.default_rng(0))[0]]) for form in FORMS]
    assert {form.name for form in forms} == set(MATCHES)
    assert not any(form.has_common_part for form in forms)
