"""The surroundings of one trial: the child process, its limits, the Gerrit hosts, the captured evidence."""
