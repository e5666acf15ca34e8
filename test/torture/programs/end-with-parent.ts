/** Milliseconds. */
const often = 1000

/** Ends this process when the test that started it is gone, however that went: a test that is killed leaves no server behind. */
export function endWithParent(): void {
  // Told, not looked up: the test may be gone already.
  const parent = Number(process.env.GRANTRY_TEST_PARENT)
  const look = (): void => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
  }
  look()
  setInterval(look, often).unref()
}
