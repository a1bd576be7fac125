"""Physics engines behind one face: a file each, which imports its engine only when it is asked."""
