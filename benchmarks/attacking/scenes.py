"""Texts that the attack on model files starts from."""

import re

MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 4 3\nf 1 2 4\nf 2 3 4\n"
#: Meshes that are converted before MuJoCo sees them; COLLADA is XML and names pictures and other documents.
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<library_images><image id="i"><init_from>PICTURE</init_from></image></library_images>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="f" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#f" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 3 2 0 1 3 1 2 3</p></triangles>
</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node>
<instance_geometry url="WHERE#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
ENTITY = '<!DOCTYPE x [<!ENTITY e SYSTEM "file://OUT/canary.xml">]>'
PLY = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 4
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
0 0 1
3 0 2 1
3 0 3 2
3 0 1 3
3 1 2 3
"""
_FACET = "facet normal 0 0 0 outer loop vertex {} vertex {} vertex {} endloop endfacet\n"
_CORNERS = ("0 0 0", "1 0 0", "0 1 0", "0 0 1")
STL = (
    "solid a\n"
    + "".join(
        _FACET.format(*(_CORNERS[i] for i in face)) for face in ((0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3))
    )
    + "endsolid a\n"
)
CONVERTED = {"a.dae": DAE, "a.ply": PLY, "text.stl": STL}
BODY = '<worldbody><body name="b"><freejoint/><geom type="mesh" mesh="a"/></body></worldbody>'
ASSET = '<asset><mesh name="a" file="NAME"/></asset>'
CHILD = f'<mujoco><compiler meshdir="DIRECTORY"/>{ASSET}{BODY}</mujoco>'
#: Files beside the models' folders: whoever opens one has left his folder.
CANARIES = {
    "canary.obj": MESH,
    "a.obj": MESH,
    "canary.xml": f"<mujoco>{BODY}</mujoco>",
    "canary.png": "x",
    "canary.mtl": "newmtl x\n",
    "canary.dae": DAE,
    "canary.ply": PLY,
}
_INSIDE = ["a.obj"] * 8 + ["sub/a.obj", "sub/deep/a.obj", "canary.obj", "canary.obj", "missing.obj", ""]
_INSIDE += [*CONVERTED] * 2
_OUTSIDE = [
    "../../out/canary.dae",
    "link/canary.ply",
    "OUT/canary.dae",
    "../../out/canary.obj",
    "OUT/canary.obj",
    "link/canary.obj",
    "link.obj",
    "package://a.obj",
    "package://../../out/canary.obj",
    "package://link/canary.obj",
    "package://canary.obj",
    "up/../../out/canary.obj",
    "sub/deep/../../../../out/canary.obj",
    "file://OUT/canary.obj",
    "model://../../out/canary.obj",
    "model://link.obj",
    "up/model/a.obj",
]
#: Packages as `routh.models.files` looks for them: above the file (b is the folder of all cases), beside
#: it, in the paths of ROS and Ament, installed; and ways out of each.
_PACKAGES = [
    "package://model/a.obj",
    "package://model/link/canary.obj",
    "package://b/out/canary.obj",
    "package://out/canary.obj",
    "package://hidden/canary.obj",
    "package://far/canary.obj",
    "package://beside/a.obj",
    "package://beside/link.obj",
    "package://rospkg/a.obj",
    "package://rospkg/a.dae",
    "package://rospkg/link/canary.dae",
    "package://amentpkg/link/canary.ply",
    "package://rospkg/link/canary.obj",
    "package://rospkg/link.obj",
    "package://rospkg/../../out/canary.obj",
    "package://rospkg/./../../out/canary.obj",
    "package://rospkg//OUT/canary.obj",
    "package://rospkg/OUT/canary.obj",
    "package://share/../../out/canary.obj",
    "package://amentpkg/a.obj",
    "package://amentpkg/link/canary.obj",
    "package://../out/canary.obj",
    "package://./out/canary.obj",
    "package:///OUT/canary.obj",
    "package://example-robot-data/../../out/canary.obj",
    "model://rospkg/link.obj",
    "model://rospkg/a.obj",
    "PACKAGE://rospkg/a.obj",
]
NAMES = _INSIDE + _OUTSIDE
PACKAGED = NAMES + 2 * _PACKAGES  # for URDF
DIRECTORIES = ["", ".", "sub", "../../out", "../../out", "OUT", "link", "sub/../../../out", "up/../../out"]
_URDF = """<robot name="r">EXTRA<link name="l"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
  ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><mesh filename="NAME"/></geometry></collision>
  <visual><geometry><mesh filename="NAME"/></geometry></visual></link></robot>"""
_ONE_NAME = re.sub("<visual>.*</visual>", "", _URDF.replace("EXTRA", ""))
_COMPILER = '<mujoco><compiler meshdir="DIRECTORY" strippath="false"/></mujoco>'

#: (the top file, all files of the tree)
TREES = [
    ("t.xml", {"t.xml": f'<mujoco><compiler meshdir="DIRECTORY"/>{ASSET}{BODY}</mujoco>'}),
    (
        "t.xml",
        {
            "t.xml": f'<mujoco><include file="i.xml"/>{BODY}</mujoco>',
            "i.xml": f'<mujoco><compiler meshdir="DIRECTORY"/>{ASSET}</mujoco>',
        },
    ),
    (
        "t.xml",
        {
            "t.xml": f'<mujoco><include file="i.xml"/><include file="sub/j.xml"/>{BODY}</mujoco>',
            "i.xml": f"<mujoco>{ASSET}</mujoco>",
            "sub/j.xml": '<mujoco><compiler assetdir="DIRECTORY"/></mujoco>',
        },
    ),
    (
        "t.xml",
        {
            "t.xml": '<mujoco><compiler meshdir="DIRECTORY"/><asset><model name="c" file="sub/c.xml"/>'
            "</asset>"
            '<worldbody><attach model="c" body="b" prefix="x_"/></worldbody></mujoco>',
            "sub/c.xml": CHILD,
        },
    ),
    (
        "t.xml",
        {
            "t.xml": '<mujoco><asset><model name="c" file="sub/c.xml"/></asset>'
            '<worldbody><attach model="c" body="b" prefix="x_"/></worldbody></mujoco>',
            "sub/c.xml": '<mujoco><include file="deep/d.xml"/></mujoco>',
            "sub/deep/d.xml": CHILD,
        },
    ),
    (
        "t.xml",
        {
            "t.xml": f'<mujoco><include file="DIRECTORY/canary.xml"/>{BODY}</mujoco>',
        },
    ),
    (
        "t.xml",
        {
            "t.xml": '<mujoco><asset><texture name="t" type="2d" file="../../out/canary.png"/><hfield '
            'name="h" file="NAME" size="1 1 1 1"/></asset></mujoco>',
        },
    ),
    ("r.urdf", {"r.urdf": _URDF.replace("EXTRA", "")}),
    ("r.urdf", {"r.urdf": _ONE_NAME}),
    ("r.urdf", {"r.urdf": _ONE_NAME}),
    ("r.urdf", {"r.urdf": _URDF.replace("EXTRA", _COMPILER)}),
    (
        "r.urdf",
        {
            "r.urdf": _URDF.replace("EXTRA", "").replace("NAME", "m.obj"),
            "m.obj": "mtllib DIRECTORY/canary.mtl\n" + MESH,
        },
    ),
]

SCENES = {
    "scene.xml": """<mujoco><compiler angle="radian"/><option timestep="0.002"/><default>
      <geom friction="0.8"/>
      <default class="foot"><geom condim="4"/></default></default><asset><texture name="t" type="2d"
      builtin="checker" width="8" height="8"/><material name="m" texture="t"/></asset><worldbody>
      <geom name="floor" type="plane" size="1 1 1" material="m"/><body name="a" pos="0 0 1"><freejoint/>
      <geom type="box" size="0.1 0.2 0.3"/><body name="b" pos="0 0 -0.3"><joint name="j" type="hinge"
      range="-1 1" limited="true"/><geom class="foot" type="capsule" size="0.05" fromto="0 0 0 0 0 -0.4"/>
      <site name="s" pos="0 0 -0.4"/></body></body><body name="c" pos="1 0 1"><joint type="ball"/>
      <geom type="ellipsoid" size="0.1 0.2 0.1"/></body></worldbody><equality><connect body1="a" body2="c"
      anchor="0 0 0"/></equality><tendon><fixed name="f" range="-1 1"><joint joint="j" coef="2"/></fixed>
      </tendon><actuator><motor joint="j" gear="3"/></actuator><keyframe><key name="k"/></keyframe>
      </mujoco>""",
    "leg.urdf": """<robot name="leg"><link name="trunk"><inertial><mass value="2"/><inertia ixx="1" iyy="1"
      izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.1 0.2 0.3"/></geometry>
      </collision></link><link name="shank"><inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/><inertia
      ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere
      radius="0.05"/></geometry></collision></link><joint name="knee" type="revolute"><parent link="trunk"/>
      <child link="shank"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
      </robot>""",
}
