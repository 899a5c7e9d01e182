"""The features of the pages, each in a folder: its parts, its panel, its routes."""
