"""The ground on which every room stands; nothing here knows what an impact is.

In the order in which they may import each other:

`lazily`        public names that are resolved on first use
`features`      the features that are installed, and what each adds
`status`        how a solve can end, and the errors that are raised
`tolerances`    every tolerance, with its reason
`validation`    checks of what users give
`text`          outside text made safe for terminals, web pages and figures
`progress`      what notebooks show during long calls
`interrupts`    Ctrl-C, heard within a second
`processes`     work in other processes
`storage`       files that are written completely or not at all
`rng`           random numbers by seed, row, sample, step and contact
`spread`        few of many points that lie far apart
`results`       what results have in common: pictures, notebooks, tables
"""
