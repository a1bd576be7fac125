"""What is the same for robots of every library that loads them."""
