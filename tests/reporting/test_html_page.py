"""The page: one file, in order, with nothing that could be mistaken for HTML."""

import base64

from hierbandits.reporting.html_page import HtmlPage


def test_parts_stand_in_their_order():
    page = HtmlPage("Title")
    page.text("one")
    page.table("two", ["a", "b"], [["c", "d"], ["e", "f"]])
    page.figure(b"picture", "three")
    page.text("four", "five")
    text = page.html("six")
    data = base64.b64encode(b"picture").decode()
    parts = [
        "<title>Title</title>",
        "<h1>Title</h1>",
        "<p>one</p>",
        "<h2>two</h2><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>"
        "<tr><td>c</td><td>d</td></tr><tr><td>e</td><td>f</td></tr></tbody></table>",
        f'<figure><img alt="three" src="data:image/png;base64,{data}">'
        "<figcaption>three</figcaption></figure>",
        "<p>four</p>",
        "<p>five</p>",
        "<pre>six</pre>",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "{" not in text.split("</style>")[1]  # no place of the template is left empty


def test_text_is_escaped_wherever_it_stands():
    page = HtmlPage("<t>&")
    page.text("<x>{body}")
    page.table("<h>", ["<c>"], [["<r>"]])
    page.figure(b"", 'a "quoted" <caption>')
    text = page.html("<d>")
    for name in ("t", "x", "h", "c", "r", "caption", "d"):
        assert f"<{name}>" not in text
        assert f"&lt;{name}&gt;" in text
    assert "<p>&lt;x&gt;{body}</p>" in text
    assert 'alt="a &quot;quoted&quot; &lt;caption&gt;"' in text
