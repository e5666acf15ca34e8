/** Milliseconds. */
const often = 1000

/** Ends this process when its test is gone, however that ended: a killed test leaves no server behind. */
export function endWithParent(): void {
  // Passed as an argument instead of read from the system: the test may be gone already.
  const parent = Number(process.env.GRANTRY_TEST_PARENT)
  const look = (): void => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
  }
  look()
  setInterval(look, often).unref()
}
