"""The page: one file, in order, with nothing that could be mistaken for HTML."""

import base64

from hierbandits.reporting.html_page import HtmlPage, shown_text


def test_parts_stand_in_their_order():
    page = HtmlPage("Title")
    page.text("one")
    page.table("two", ["a", "b"], [["c", "d"], ["e", "f"]])
    page.figure(b"picture", "three")
    page.text("four", "five")
    page.answer("first", "surely")
    text = page.html([("Data", "seven")], "six")
    data = base64.b64encode(b"picture").decode()
    parts = [
        "<title>Title</title>",
        "<h1>Title</h1>",
        '<p class="answer">first</p>',
        '<p class="certainty">surely</p>',
        "<p>one</p>",
        "<h2>two</h2>",
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>"
        '<tr><td class="n">c</td><td class="n">d</td></tr>'
        '<tr><td class="n">e</td><td class="n">f</td></tr></tbody></table>',
        f'<img alt="three" src="data:image/png;base64,{data}">',
        "<figcaption>three</figcaption></figure>",
        "<p>four</p>",
        "<p>five</p>",
        "<dt>Data</dt><dd>seven</dd>",
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
    page.answer("<a1>", "<a2>")
    page.heading("<s>")
    text = page.html([("<w>", "<l>")], "<d>")
    for name in ("t", "x", "h", "c", "r", "caption", "d", "a1", "a2", "s", "w", "l"):
        assert f"<{name}>" not in text
        assert f"&lt;{name}&gt;" in text
    assert "<p>&lt;x&gt;{body}</p>" in text
    assert 'alt="a &quot;quoted&quot; &lt;caption&gt;"' in text


def test_a_page_without_an_answer_or_an_origin_has_no_empty_places():
    page = HtmlPage("Title")
    page.table("", ["a"], [["b"]])
    text = page.html()
    body = text.split("</style>")[1]
    for part in ('class="answer"', "<h2></h2>", "<dl>"):
        assert part not in body


def test_wide_tables_and_figures_scroll_in_frames_of_their_own():
    page = HtmlPage("Title")
    page.table("", ["a"], [["b"]])
    page.figure(b"", "caption", inches=13.4)
    text = page.html()
    assert '<div class="scroll"><table>' in text
    assert '<figure style="--inches:13.4"><div class="scroll"><img' in text


def test_what_runs_from_right_to_left_is_set_apart():
    name = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd"
    assert shown_text(f"{name}, 12 of 30") == f"<bdi>{name}</bdi>, 12 of 30"
    assert shown_text(f"a {name} b<") == f"a <bdi>{name}</bdi> b&lt;"
    assert shown_text("plain, 東京 & 12") == "plain, 東京 &amp; 12"


def test_numbers_and_short_names_stay_on_one_line():
    page = HtmlPage("Title")
    whole = ["12.5", "-6.1234567e-126", "0.22 (-0.07 to 0.53)", "store 12", ""]
    broken = ["12 and 13 North street", "0.22 (-0.07 to 0.53) or so"]
    page.table("", ["rewards"], [[text] for text in whole + broken])
    text = page.html()
    assert all(f'<td class="n">{cell}</td>' in text for cell in whole)
    assert all(f"<td>{cell}</td>" in text for cell in broken)
    assert "<th>rewards</th>" in text


def test_a_column_of_sentences_begins_at_the_left():
    page = HtmlPage("Title")
    sentence = "Rows without a reward are not here, so that means are off."
    page.table("", ["what", "why", "rows"], [["a", sentence, "12"], ["b", "short", "1,200"]])
    text = page.html()
    assert '<th class="w">why</th>' in text
    assert f'<td class="w">{sentence}</td>' in text
    assert '<td class="n w">short</td>' in text
    assert '<td class="n">12</td>' in text
