"""The look of every page: on a screen, on a phone, in the dark and on paper."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2026; --soft: #555c68; --line: #d9dde3;
  --page: #ffffff; --band: #f3f5f8; --accent: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ed; --soft: #a9b0bc; --line: #3b414b;
  --page: #15181c; --band: #20242a; --accent: #6cc0f0; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto;
  padding: 0 1rem; color: var(--ink); background: var(--page); overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; }
.answer { font-size: 1.25rem; line-height: 1.4; margin: 1rem 0 .3rem; padding-left: .8rem;
  border-left: 4px solid var(--accent); }
.certainty { color: var(--soft); margin: 0 0 1.2rem; padding-left: calc(.8rem + 4px); }
.scroll { overflow-x: auto; max-width: 100%; }
figure { margin: 1.2rem 0; break-inside: avoid; }
img { display: block; max-width: 100%; background: #fff; border-radius: 6px;
  padding: .3rem; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .4rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); text-align: right;
  vertical-align: top; max-width: 24rem; }
th { vertical-align: bottom; font-size: .9rem; }
.n { white-space: nowrap; } td:first-child:not(.n) { min-width: 9rem; }
th:first-child, td:first-child, .w { text-align: left; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
details { margin: 1.5rem 0; } summary { cursor: pointer; }
pre { background: var(--band); padding: 1rem; overflow: auto; font-size: .85rem; }
.lookup { border: 1px solid var(--line); border-radius: 6px; padding: .8rem; margin: 1.2rem 0; }
.lookup label { display: inline-block; margin: 0 1rem .5rem 0; }
.lookup input, .lookup select { font: inherit; color: inherit; background: var(--band);
  border: 1px solid var(--line); border-radius: 4px; padding: .2rem .5rem; max-width: 100%; }
.lookup ol { list-style: none; margin: .5rem 0; padding: 0; max-height: 32rem; overflow-y: auto; }
.lookup li { display: grid; grid-template-columns: 14rem 1fr 17rem;
  gap: .2rem .8rem; align-items: center; border-bottom: 1px solid var(--line); padding: .15rem 0; }
.lookup li span { overflow-wrap: anywhere; } .lookup li span:last-child { text-align: right;
  color: var(--soft); font-size: .85rem; font-variant-numeric: tabular-nums; }
.lookup svg { width: 100%; height: 1.1rem; display: block; overflow: hidden; }
.lookup p { margin: .3rem 0; color: var(--soft); font-size: .9rem; }
@media (max-width: 40rem) { body { margin: 1rem auto; }
  figure img { max-width: none; width: max(100%, calc(var(--inches) * 4.6rem)); }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; }
  .lookup li { grid-template-columns: 1fr max-content; } .lookup svg { grid-column: 1 / 3;
  grid-row: 2; } }
@media print { :root { color-scheme: light; --ink: #000; --soft: #333; --line: #bbb; --page: #fff;
  --band: #fff; --accent: #0072b2; }
  html { font-size: 10pt; } body { margin: 0; max-width: none; font-size: 1rem;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2 { break-after: avoid; } .scroll { overflow: visible; } table { font-size: .9rem; }
  th, td { padding-right: .5rem; } .n { white-space: normal; }
  .wide, .wide th { font-size: .55rem; } .wide th, .wide td { padding-right: .15rem; }
  td:first-child:not(.n) { min-width: 0; }
  .lookup, details { display: none; } }
@page { margin: 16mm; }
"""
