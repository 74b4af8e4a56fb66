"""Files of this folder that pytest does not collect: extensions of the site, its output, scripts with figures."""

collect_ignore_glob = ["_build/*", "examples/*", "_ext/*", "figures/*", "gallery/*", "conf.py"]
