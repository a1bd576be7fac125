# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh.gaits.return_maps import Compass as Compass
from routh.gaits.return_maps import Gait as Gait
from routh.gaits.return_maps import ReturnMap as ReturnMap
from routh.gaits.return_maps import Rolling as Rolling
from routh.gaits.return_maps import StepTaken as StepTaken
from routh.gaits.return_maps import Wheel as Wheel
from routh.gaits.return_maps import keeps_rolling as keeps_rolling
from routh.gaits.return_maps import return_map as return_map
