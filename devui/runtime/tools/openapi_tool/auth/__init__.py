"""Security schemes and credentials for services, from what service providers hand out."""
