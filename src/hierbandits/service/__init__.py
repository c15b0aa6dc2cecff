"""A self-hosted decision service: durable, observable, secure."""
