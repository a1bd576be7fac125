"""Derivatives of samples: drawn again, written down, and gone through backwards.

With the decisions of a sample fixed (who pushes, which event ends each piece) the velocity after is a smooth
function of the problem. The *bar* of a quantity is the derivative of one number with respect to it; one pass
from the last piece to the first gives the bars of all data.

Read in this order:

- `record`, `record_plane`, `record_space`: what is written down of a sample.
- `reverse`: backwards along straight pieces; `reverse_rates` through their rates, `reverse_aimed` through
  weights that were aimed at coming to rest together.
- `reverse_curve`: backwards along a curve of the true cone.
- `pullback`: from bars in the problem's own units to those of M, Jn, Jt, mu, v and restitution.
- `run`: all samples of many problems, by threads.
"""
