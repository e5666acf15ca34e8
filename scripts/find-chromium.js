import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

export const chromiumMissing =
  'Chromium is not installed, and the tests of the console need it: apt-get install chromium, or name one in CHROMIUM'

const isThere = (file) => spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0

/** The file of the Chromium to test with: what CHROMIUM names, or one on the PATH; `undefined` where there is none. */
export function findChromium() {
  const { CHROMIUM: named, PATH = '' } = process.env
  if (named !== undefined) return isThere(named) ? named : undefined
  const folders = PATH.split(delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isThere)
}
