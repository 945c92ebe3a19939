"""Create the review root with the README that explains it."""

from __future__ import annotations

from vault_tools import __version__
from vault_tools.core.note import encode
from vault_tools.render.contexts import ReviewRootReadmeContext, plain
from vault_tools.render.environment import Renderer
from vault_tools.review.world import World

README_TEMPLATE = "review-root-readme.md.j2"


def write_readme(world: World, renderer: Renderer) -> None:
    """Write the review root's README once; an existing one is left as it is."""
    path = f"{world.review_root}/README.md"
    if world.files.read(path) is None:
        context = ReviewRootReadmeContext(
            workspace_key=world.workspace_key, review_root=world.review_root, version=__version__
        )
        world.files.write(
            path, encode(renderer.render(README_TEMPLATE, plain(context))), expected=None
        )
