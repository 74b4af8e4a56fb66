"""What pytest leaves alone in this folder: the machinery of the site, what it builds, scripts that draw figures."""

collect_ignore_glob = ["_build/*", "_ext/*", "figures/*", "conf.py"]
