const prefix = 'not run: '

/**
 * Prints which tests cannot run on this machine and the command that changes it. With CI=true that is a failure, because
 * a build that proves less than it should must not pass.
 */
export function reportNotRun(tests, command) {
  process.stdout.write(`${prefix}${tests} (install with: ${command})\n`)
  if (process.env.CI === 'true') process.exitCode = 1
}

/** Returns what checks have reported in their output. */
export const reportedIn = (output) =>
  output
    .split('\n')
    .filter((line) => line.startsWith(prefix))
    .map((line) => line.slice(prefix.length))
