import { execFileSync } from 'node:child_process'

/** Returns the time of the commit, as ISO 8601 with seconds: the same for all who release it. */
export function commitTime(root) {
  const seconds = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  return new Date(1000 * Number(seconds)).toISOString().replace('.000Z', 'Z')
}
