"""Performance model: predicts how a recorded run scales to other numbers of ranks.

`machine`: networks and nodes. `decomposition`: counts that follow from the division of a box among
ranks. `recorded`: counts and times from telemetry. `model`: fit and prediction. `pencils`: counts
and times of incompressible flow in closed form. `gpu`: host or device. `report`: tables and plot.
"""
