"""Laws of impact against measured tosses of two boxes on a hinge; the options are those of `cube_tosses.py`.

    python benchmarks/elbow_tosses.py elbow_tosses.npz [--figure elbow.png]
    python benchmarks/elbow_tosses.py --fitted benchmarks/tosses/elbow.json OTHER.npz

The hinge rubs in flight, so velocities before and after are taken of the centre of mass and of the angular
momentum. The file of tosses may also be named by the environment variable ROUTH_ELBOW_TOSSES.
"""

from tosses.bodies import Elbow
from tosses.comparing import main

if __name__ == "__main__":
    main(Elbow(), __doc__, "ROUTH_ELBOW_TOSSES")
