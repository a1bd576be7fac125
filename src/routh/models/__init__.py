"""Models of mechanisms with contacts."""
