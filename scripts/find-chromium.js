import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

export const chromiumMissing =
  'Chromium is not installed, but the tests of the console need it: apt-get install chromium, or set CHROMIUM to its path'

const isAvailable = (file) => spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0

/** Returns the path of Chromium from CHROMIUM or the PATH; `undefined` when there is none. */
export function findChromium() {
  const { CHROMIUM: named, PATH = '' } = process.env
  if (named !== undefined) return isAvailable(named) ? named : undefined
  const folders = PATH.split(delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isAvailable)
}
