/**
 * Sends SIGTERM to this process when its parent exits. npm signals its shell, which does not forward the signal unless
 * the script starts with `exec`, and Windows has no `exec`.
 */
export function stopWithParent() {
  const { ppid } = process
  setInterval(() => {
    if (process.ppid !== ppid) process.kill(process.pid, 'SIGTERM')
  }, 250).unref()
}
