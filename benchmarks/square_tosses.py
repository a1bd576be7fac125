"""Laws of impact against measured planar tosses of a square; the options are those of `cube_tosses.py`.

    python benchmarks/square_tosses.py square_tosses.npz [--figure square.png]
    python benchmarks/square_tosses.py --fitted benchmarks/tosses/square.json OTHER.npz

It falls flat on two corners, in the plane: the rocking block itself. The file of tosses may also be named by
the environment variable ROUTH_SQUARE_TOSSES.
"""

from tosses.bodies import Square
from tosses.comparing import main

if __name__ == "__main__":
    main(Square(), __doc__, "ROUTH_SQUARE_TOSSES")
