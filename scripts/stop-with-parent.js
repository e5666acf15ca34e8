/**
 * Sends SIGTERM to this process when its parent ends. npm signals the shell that it starts, and that shell does not pass the signal on unless the script
 * begins with `exec`, which Windows lacks.
 */
export function stopWithParent() {
  const { ppid } = process
  setInterval(() => {
    if (process.ppid !== ppid) process.kill(process.pid, 'SIGTERM')
  }, 250).unref()
}
