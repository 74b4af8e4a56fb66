"""What every room shares: the two doors for data, the estimator bases, parameters, threads, spectra."""
