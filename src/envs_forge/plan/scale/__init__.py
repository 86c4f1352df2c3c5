"""The planner's way to a proven plan for any number of seeds.

`sample` finds prices on a part of the seeds, `descend` improves them until they are optimal for all, `core` picks the
few candidates that matter at given prices, `finish` decides among those in integers and proves how good the result is.
`optimum` puts the steps together.
"""
