"""The tasks: Gymnasium's, and a hopper whose foot is flat."""

from __future__ import annotations

import tempfile
from pathlib import Path
from xml.etree import ElementTree

import gymnasium
from gymnasium.envs import mujoco as tasks

FLAT_HOPPER = "FlatHopper"


def make(task: str) -> gymnasium.Env:
    """An environment by its name."""
    if task != FLAT_HOPPER:
        return gymnasium.make(task, disable_env_checker=True)
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(flat_hopper())
        file.flush()
        options = {"xml_file": file.name, "healthy_reward": 0.1}  # with more it learns to stand
        return gymnasium.make("Hopper-v5", disable_env_checker=True, **options)


def flat_hopper() -> str:
    """Gymnasium's hopper without its ankle, the foot centred under the leg: it lands flat, or rocks."""
    root = ElementTree.parse(Path(tasks.__file__).parent / "assets" / "hopper.xml").getroot()
    foot = root.find(".//body[@name='foot']")
    foot.set("pos", "0 0 -0.35")
    foot.remove(foot.find("joint"))
    foot.find("geom").attrib.update({"pos": "0 0 0.1", "size": "0.06 0.12"})
    motors = root.find("actuator")
    motors.remove(motors.find("motor[@joint='foot_joint']"))
    return ElementTree.tostring(root, encoding="unicode")
