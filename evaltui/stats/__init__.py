"""Estimators and intervals: arrays in, a frozen result out; no I/O, no clock, no unseeded randomness."""
