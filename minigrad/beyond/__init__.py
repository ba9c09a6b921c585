"""What the chapters on systems build on top of the library, which never imports it."""
