// Preloaded into a process whose standard output is a pipe: it then prints what it prints on a terminal.
process.stdout.isTTY = true
