"""Bundles of official artefacts: KoSIT validator configurations and compiled Schematron."""
