"""The gradient checker, which compares gradients with nudging."""
