"""A small index of packages, written by hand: three kinds, each with its own habits."""

from __future__ import annotations

KINDS = {
    "editors": (
        ("vi", "ed", "pico", "nano", "kate", "jot", "pad", "write"),
        ("role::program", "use::editing", "works-with::text", "interface::text-mode"),
        ("libc6", "libtinfo6"),
        "a small text editor for the terminal",
    ),
    "games": (
        ("chess", "go", "tetris", "pong", "maze", "cards", "dice", "snake"),
        ("role::program", "use::gameplaying", "game::board", "interface::x11"),
        ("libc6", "libsdl2"),
        "a board game with graphics and sound",
    ),
    "libs": (
        ("libpng", "libxml", "libz", "libssl", "libgif", "libogg", "libuv", "libev"),
        ("role::shared-lib", "devel::library", "implemented-in::c", "use::converting"),
        ("libc6",),
        "a shared library for other programs",
    ),
}


def index_text() -> str:
    """The stanzas of all packages, with the oddities that real indices have."""
    stanzas = [
        "Package: no-description\nSection: misc",
        "Package: untagged\nSection: misc\nDescription: nobody tagged it",
        # A sibling of vi from the same source, which needs it.
        "Package: vi-doc\nSource: vi (1.0)\nSection: doc\nDepends: vi\n"
        "Tag: role::documentation, use::viewing, works-with::text,\n"
        " made-of::html, interface::web\nDescription: manual of vi",
    ]
    for section, (names, tags, needs, summary) in KINDS.items():
        for i, name in enumerate(names):
            # Every third package lacks the last facet.
            own = tags if i % 3 else tags[:-1]
            stanzas.append(
                f"Package: {name}\nSection: {section}\n"
                f"Depends: {', '.join(f'{need} (>= 1.{i})' for need in needs)}\n"
                f"Recommends: {names[i - 1]} | other-{name}\n"
                f"Tag: {', '.join(own)}, special::auto-inst-ok\n"
                f"Description: {name}, {summary}\n long text of {name}\n ."
            )
    return "\n\n".join(stanzas) + "\n"
