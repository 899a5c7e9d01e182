"""Security schemes and credentials for services, made from what their authors hand out."""
