"""The features of the pages, each in a folder with its parts, its panel and its routes."""
