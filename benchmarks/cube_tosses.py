"""Laws of impact against measured tosses of a cube.

    python benchmarks/cube_tosses.py cube_tosses.npz [--figure reality.png]
    python benchmarks/cube_tosses.py --fitted benchmarks/tosses/cube.json OTHER.npz

Finds the impacts, fits what the body is like and each law's friction and restitution on a random half of the
tosses and predicts the other half; then the halves change places, so that every impact is predicted once by
laws that were not fitted on it. ``--fitted`` predicts other tosses with values of before; ``--write``
makes such a file. The file of tosses may also be named by the environment variable ROUTH_CUBE_TOSSES.
``--all`` keeps the impacts after which the cube does not fly, where contact forces go on changing the
velocity that is measured.
"""

from tosses.bodies import Cube
from tosses.comparing import main

if __name__ == "__main__":
    main(Cube(), __doc__, "ROUTH_CUBE_TOSSES")
