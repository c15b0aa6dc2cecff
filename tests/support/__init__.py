"""Models, logs, worlds and oracles that several tests share."""
