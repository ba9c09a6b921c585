"""/opt/tljh/config/jupyterhub_config.d/course.py of The Littlest JupyterHub, read when the hub starts."""

c = get_config()  # noqa: F821 - defined by JupyterHub
c.Spawner.default_url = "/lab/tree/minigrad-course/work/notebooks/00_start.ipynb"
c.Spawner.environment = {"OMP_NUM_THREADS": "1"}  # NumPy would start a thread for every core of the server
