"""Turn a rendered note into one HTML page that looks much as Obsidian shows it.

For development and for the pictures in the README; vault-tools itself never needs it:

    python docs/preview/bundle_preview.py NOTE.md PAGE.html --theme dark
"""

from __future__ import annotations

import argparse
import html
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

CALLOUTS = {
    "abstract": ("0,176,255", "M9 2h6v4H9zM9 4H5v18h14V4h-4M9 12h6M9 16h6"),
    "danger": ("233,49,71", "M13 2 3 14h9l-1 8 10-12h-9z"),
    "failure": ("233,49,71", "M18 6 6 18M6 6l12 12"),
    "info": ("8,109,221", "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20M12 16v-4M12 8h.01"),
    "note": ("8,109,221", "M17 3a2.8 2.8 0 1 1 4 4L7.5 20.500 2 22l1.500-5.500z"),
    "quote": (
        "158,158,158",
        "M3 21c3 0 7-1 7-8V5H3v7h4c0 4-1 6-4 6zM14 21c3 0 7-1 7-8V5h-7v7h4c0 4-1 6-4 6z",
    ),
    "tip": ("0,191,188", "M12 2c1 4 6 6 6 12a6 6 0 0 1-12 0c0-2 1-4 2-5 0 2 1 3 2 3 2-3 0-6 2-10z"),
    "warning": ("236,117,0", "M12 3 2 21h20zM12 9v5M12 17h.01"),
}
CALLOUT = re.compile(r"\[!(\w+)\]([-+]?) ?(.*)")
BLOCK_ID = re.compile(r"\s\^([A-Za-z0-9-]+)$")
FRONT_MATTER = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)

STYLE = """
:root { --bg:#fff; --fg:#222; --faint:#707070; --line:#e0e0e0; --code:#f6f6f6; --link:#7852ee;
  --add:#e6f6ea; --del:#fdecee; --head:#fafafa; }
html.dark { --bg:#1e1e1e; --fg:#dadada; --faint:#a3a3a3; --line:#363636; --code:#242424;
  --link:#a78bfa; --add:#1d3325; --del:#3d2226; --head:#262626; }
* { box-sizing: border-box }
body { margin: 0; background: var(--bg); color: var(--fg);
  font: 16px/1.5 ui-sans-serif, -apple-system, "Segoe UI", Inter, Roboto, "Liberation Sans",
  sans-serif }
main { max-width: 760px; margin: 0 auto; padding: 32px 30px 64px }
h1 { font-size: 1.8em; line-height: 1.2; margin: 0 0 .7em } h2 { font-size: 1.45em; margin: 1.6em
  0 .6em }
h3 { font-size: 1.22em; margin: 1.9em 0 .35em; line-height: 1.3 }
p { margin: .7em 0 } a { color: var(--link); text-decoration: underline }
table { border-collapse: collapse; margin: 1em 0; font-size: .95em; line-height: 1.35 }
th, td { border: 1px solid var(--line); padding: 5px 9px; text-align: left; vertical-align: top }
th { background: var(--head); font-weight: 600 }
code { font: .87em/1.5 "SF Mono", Consolas, "Liberation Mono", monospace; background: var(--code);
  padding: 1px 4px; border-radius: 4px }
pre { background: var(--code); border-radius: 6px; padding: 11px 15px; overflow-x: auto; margin:
  .8em 0 }
pre code { padding: 0; background: none; white-space: pre-wrap; overflow-wrap: anywhere }
pre .add { background: var(--add); display: block } pre .del { background: var(--del); display:
  block }
ul { padding-left: 1.5em; margin: .5em 0 } li { margin: .15em 0 }
.callout { background: rgba(var(--c), .1); border-radius: 5px; padding: 11px 14px 11px 16px;
  margin: .9em 0 }
.callout > .title, .callout > summary { color: rgb(var(--c)); font-weight: 600; display: flex;
  gap: 8px;
  align-items: flex-start; cursor: default; list-style: none }
.callout > summary::after { content: "\\203A" } .callout[open] > summary::after { content:
  "\\2304" }
.callout svg { flex: none; width: 18px; height: 18px; margin-top: 3px }
.callout p { margin: .35em 0 } .callout ul { margin: .35em 0; padding-left: 1.2em }
.properties { border-bottom: 1px solid var(--line); margin: 0 0 1.6em; padding: 0 0 1em; color:
  var(--faint);
  font-size: .9em; display: grid; grid-template-columns: 190px 1fr; gap: 2px 12px }
.pie { display: block; margin: 1em auto }
"""


def page(note: str, theme: str) -> str:
    """Give the whole HTML page of a note; `theme` is light or dark."""
    front = FRONT_MATTER.match(note)
    properties = _properties(front[1]) if front else ""
    body = _parser().render(note[front.end() :] if front else note)
    return (
        f'<!doctype html><html class="{theme}"><meta charset="utf-8"><style>{STYLE}</style>'
        f"<main>{properties}{body}</main></html>"
    )


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(
        ["table", "strikethrough"]
    )
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.core.ruler.after("text_join", "obsidian", lambda state: _adapt(state.tokens))
    for name, rule in (("fence", _fence), ("html_block", _html), ("html_inline", _html)):
        parser.add_render_rule(name, rule)
    return parser


def _wikilink(state: StateInline, silent: bool) -> bool:
    match = re.compile(r"\[\[([^\[\]]+)\]\]").match(state.src, state.pos)
    if not match:
        return False
    if not silent:
        target, _, shown = match[1].partition("|")
        anchor = target[2:] if target.startswith("#^") else ""
        state.push("link_open", "a", 1).attrs = {"href": f"#{anchor}", "class": "internal"}
        state.push("text", "", 0).content = shown or target
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _adapt(tokens: list[Token]) -> None:
    for n, token in enumerate(tokens):
        if token.type == "blockquote_open":
            _as_callout(tokens, n)
        elif token.type == "inline" and token.children:
            last = token.children[-1]
            match = BLOCK_ID.search(last.content) if last.type == "text" else None
            if match:
                last.content = last.content[: match.start()]
                tokens[n - 1].attrSet("id", match[1])


def _as_callout(tokens: list[Token], n: int) -> None:
    inline = tokens[n + 2] if tokens[n + 1].type == "paragraph_open" else None
    match = CALLOUT.match(inline.content.split("\n")[0]) if inline else None
    if inline is None or not match:
        return
    kind, fold, _ = match.groups()
    colour, path = CALLOUTS.get(kind.lower(), CALLOUTS["note"])
    children = list(inline.children or [])
    cut = next((i for i, child in enumerate(children) if child.type == "softbreak"), len(children))
    children[0].content = CALLOUT.sub(r"\3", children[0].content)
    title = RendererHTML().render(children[:cut], MarkdownIt("commonmark").options, {})
    inline.children = children[cut + 1 :]
    icon = (
        '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" '
        f'stroke-linecap="round" stroke-linejoin="round"><path d="{path}"/></svg>'
    )
    box, head = ("details", "summary") if fold else ("div", 'div class="title"')
    opened = " open" if fold == "+" else ""
    level, end = 1, n
    while level:
        end += 1
        level += {"blockquote_open": 1, "blockquote_close": -1}.get(tokens[end].type, 0)
    tokens[n] = Token(
        "raw",
        "",
        0,
        content=(
            f'<{box} class="callout" style="--c:{colour}"{opened}>'
            f"<{head}>{icon}<span>{title}</span></{head.split()[0]}>"
        ),
    )
    tokens[end] = Token("raw", "", 0, content=f"</{box}>")


def _raw(
    renderer: RendererHTML, tokens: Sequence[Token], n: int, options: object, env: object
) -> str:
    return tokens[n].content


RendererHTML.raw = _raw  # type: ignore[attr-defined]


def _html(
    renderer: RendererHTML, tokens: Sequence[Token], n: int, options: object, env: object
) -> str:
    content = tokens[n].content
    return "" if content.lstrip().startswith("<!--") else html.escape(content)


def _fence(
    renderer: RendererHTML, tokens: Sequence[Token], n: int, options: object, env: object
) -> str:
    token = tokens[n]
    if token.info == "mermaid":
        return _pie(token.content)
    lines = html.escape(token.content.removesuffix("\n")).split("\n")
    if token.info == "diff":
        lines = [_diff_line(line) for line in lines]
        return f"<pre><code>{''.join(lines)}</code></pre>"
    return "<pre><code>" + "\n".join(lines) + "</code></pre>"


def _diff_line(line: str) -> str:
    kind = {"+": "add", "-": "del"}.get(line[:1], "")
    return f'<span class="{kind}">{line}</span>' if kind else f"{line}\n"


def _pie(source: str) -> str:
    slices = [
        (m[1], int(m[2])) for m in re.finditer(r'^\s*"([^"]+)" : (\d+)$', source, re.MULTILINE)
    ]
    colours = dict(re.findall(r'"pie(\d+)": "(#[0-9a-f]{6})"', source))
    paths = "".join(_pie_parts(slices, colours))
    return f'<svg class="pie" viewBox="0 0 460 260" width="460" height="260">{paths}</svg>'


def _pie_parts(slices: list[tuple[str, int]], colours: dict[str, str]) -> Iterator[str]:
    total, turned = sum(count for _, count in slices), 0.0
    for n, (label, count) in enumerate(slices):
        colour = colours.get(str(n + 1), "#888")
        part = count / total
        yield _sector(turned, part, colour)
        turned += part
        y = 90 + n * 28
        yield f'<rect x="290" y="{y}" width="18" height="18" fill="{colour}"/>'
        yield f'<text x="318" y="{y + 14}" fill="currentColor">{label} [{count}]</text>'


def _sector(turned: float, part: float, colour: str) -> str:
    if part == 1:
        return f'<circle cx="140" cy="130" r="110" fill="{colour}"/>'
    ends = [math.tau * (turned + share) - math.tau / 4 for share in (0, part)]
    (x1, y1), (x2, y2) = [(140 + 110 * math.cos(a), 130 + 110 * math.sin(a)) for a in ends]
    return (
        f'<path d="M140 130 L{x1:.1f} {y1:.1f} A110 110 0 {int(part > 0.5)} 1 {x2:.1f} {y2:.1f} Z" '
        f'fill="{colour}" stroke="var(--bg)" stroke-width="2"/>'
    )


def _properties(source: str) -> str:
    entries: list[list[str]] = []
    for line in source.splitlines():
        if line.startswith("  - "):
            entries[-1][1] += f" {line[4:]}"
        else:
            entries.append(list(line.partition(":")[::2]))
    cells = "".join(
        f"<span>{html.escape(key)}</span><span>{html.escape(value.strip().strip(chr(34)))}</span>"
        for key, value in entries
    )
    return f'<div class="properties">{cells}</div>'


def main() -> None:
    """Read the note and write the page."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("note", type=Path)
    arguments.add_argument("page", type=Path)
    arguments.add_argument("--theme", choices=("light", "dark"), default="light")
    given = arguments.parse_args()
    given.page.write_text(page(given.note.read_text("utf-8"), given.theme), "utf-8")


if __name__ == "__main__":
    main()
