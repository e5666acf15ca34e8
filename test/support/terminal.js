// Preloaded into a process whose standard output is a pipe: makes it print as on a terminal.
process.stdout.isTTY = true
