"""The gradient checker: an instrument beside the library, which compares gradients with nudging."""
