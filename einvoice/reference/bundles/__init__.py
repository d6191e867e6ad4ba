"""Bundles of official artefacts: KoSIT validator configurations, compiled Schematron."""
