"""What stands in where something is missing: for CuPy, for MPI, for threads and sockets in a browser."""
