"""What the chapters on systems build on the library: it never imports them."""
