"""Auditing: is a simulator's or a measured answer possible, and how ambiguous are many impacts?"""
