"""Records of fixed layout over any buffer, for headers that other programs read and write too; see `layout`."""
