"""The README's picture: one touch-down, the set of its outcomes, and what other engines make of it.

    python benchmarks/engine_picture.py [--out docs/images/engines.png] [--samples 16384]

Needs no engine: their answers are in benchmarks/engines/answers.json, with versions and the commands that
made them. A velocity is told by how fast the lander turns over its front and over its left edge, as shares of
the rates at which it goes over.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import routh
from routh.testkit.catalogue import scenes
from routh.testkit.scene import problem

ANSWERS = Path(__file__).parent / "engines" / "answers.json"
NAMES = {"bullet": "Bullet", "drake-rigid": "Drake", "dart": "DART", "physx": "PhysX", "rapier": "Rapier"}
NAMES |= {"nimble-accurate": "Nimble", "mujoco": "MuJoCo"}
SHOWN = ("bullet", "drake-rigid", "nimble-accurate")  # whose answers with uneven feet are dots
BLUE, ORANGE, INK, GREY = "#bcd9ee", "#d55e00", "#1a1a1a", "#6b6b6b"


def shares(v: np.ndarray) -> np.ndarray:
    """Turning over the front and over the left edge, as shares of the rates that tip it, (k, 2)."""
    v = np.atleast_2d(v)
    inertia = 0.0625 + 0.2**2 + 0.55**2  # m^2, about an edge, per kg
    tips = np.sqrt(2 * 9.81 * (np.hypot(0.2, 0.55) - 0.55) / inertia)
    front = 0.55 * v[:, 0] + 0.2 * v[:, 2] + 0.0625 * v[:, 4]
    left = 0.55 * v[:, 1] + 0.2 * v[:, 2] - 0.0625 * v[:, 3]
    return np.stack([front, left], axis=1) / inertia / tips


def main() -> None:
    """Draw it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("docs/images/engines.png"))
    parser.add_argument("--samples", type=int, default=2**14)
    given = parser.parse_args()
    engines = json.loads(ANSWERS.read_text())["engines"]
    drawn = routh.sample(problem(scenes()["lander"].scene), given.samples, seed=0)
    cloud = shares(drawn.v[drawn.solved])
    fig, axes = plt.subplots(1, 2, figsize=(10.4, 4.6), sharey=True, layout="constrained")
    dots = {name: shares(engines[name]["v"]) for name in SHOWN if name in engines}
    low, high = cloud.min(axis=0) - 0.08, np.maximum(cloud.max(axis=0), 1.15) + 0.11
    top = cloud[:, 1].max() + 0.2
    for ax in axes:
        ax.axvspan(1.0, high[0], color="#fbe3d4", lw=0, zorder=0)
        ax.axvline(1.0, color=ORANGE, lw=2, zorder=1)
        ax.scatter(*cloud.T, s=3, color=BLUE, lw=0, rasterized=True, zorder=2)
        ax.text(1.03, top - 0.03, "tips over", color="#a34700", fontsize=12, fontweight="bold", va="top")
        ax.set(xlim=(0.0, high[0]), ylim=(low[1], top), yticks=[])
        ax.set_xticks([0.0, 0.5, 1.0], ["0", "half of what tips it", "just tips"])
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.set_xlabel("how fast it turns over its front feet")
    flat = {name: shares(engines[name]["level"])[0] for name in NAMES if name in engines}
    for point in flat.values():
        axes[0].scatter(*point, s=75, color=INK, edgecolors="white", linewidths=1.2, zorder=4)
    label(axes[0], flat)
    axes[0].set_title(
        f"Equal feet: {len(flat)} engines, each one answer.\nNone tips.", loc="left", fontsize=13
    )
    for points in dots.values():
        axes[1].scatter(*points.T, s=16, color=INK, lw=0, alpha=0.75, zorder=3)
    fell = np.mean([engines[name]["fell"] for name in dots])
    *first, last = (NAMES[name] for name in dots)
    told = f"{', '.join(first)} and {last}"
    title = f"Feet 2 mm uneven: {told}\nare spread over all of it. {fell:.0%} of runs tip."
    axes[1].set_title(title, loc="left", fontsize=13)
    axes[0].text(0.03, top - 0.03, "blue: every possible outcome", color="#2f6f9f", fontsize=12, va="top")
    axes[0].set_ylabel("... and over its left feet")
    fig.savefig(given.out, dpi=130)


def label(ax: plt.Axes, flat: dict[str, np.ndarray]) -> None:
    """Name the marks, from the top down; names of marks that lie together stand in one line."""
    lines: list[tuple[np.ndarray, list[str]]] = []
    for name, at in sorted(flat.items(), key=lambda one: -one[1][1]):
        if lines and np.abs(lines[-1][0] - at).max() < 0.04:
            lines[-1][1].append(NAMES[name])
        else:
            lines.append((at, [NAMES[name]]))
    lowest = np.inf
    for at, names in lines:
        y = min(at[1], lowest - 0.075)
        line = {"arrowstyle": "-", "color": GREY, "lw": 0.8}
        place = (at[0] + 0.07, y)
        words = ", ".join(names)
        ax.annotate(words, at, place, arrowprops=line, va="center", fontsize=11.5, color=INK, zorder=6)
        lowest = y


if __name__ == "__main__":
    main()
