import { spawnSync } from 'node:child_process'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

export const chromiumMissing =
  'Chromium is not installed, and the tests of the console need it: apt-get install chromium, or name one in CHROMIUM'

const isThere = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0

/** The command of the Chromium to test with: what CHROMIUM names, or one on the PATH; `undefined` where there is none. */
export function findChromium() {
  const named = process.env.CHROMIUM
  return (named === undefined ? names : [named]).find(isThere)
}
