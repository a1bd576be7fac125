"""Measured cube tosses: the impacts in them, and what laws predict for these."""
