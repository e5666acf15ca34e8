// Before the tests: is there a Chromium to run those of the console in? In a build (CI=true) it is installed where it is missing, and a build
// without it fails; elsewhere the tests that need it are left out.
import { spawnSync } from 'node:child_process'
import { chromiumMissing, findChromium } from './find-chromium.js'

const install = `
export DEBIAN_FRONTEND=noninteractive
get() { apt-get install -y --no-install-recommends chromium; }
get || { apt-get update && get; }
`

/** Why it could not be installed; `undefined` when it is there now. */
function installed() {
  const shell = ['sh', '-c', install]
  const [command, ...parameters] = process.getuid?.() === 0 ? shell : ['sudo', '-n', ...shell]
  const { status, error, stderr } = spawnSync(command, parameters, { encoding: 'utf8' })
  if (status === 0) return findChromium() === undefined ? 'apt-get has installed none' : undefined
  return error?.message ?? stderr.trim().split('\n').at(-1)
}

if (findChromium() === undefined) {
  if (process.env.CI === 'true') {
    const reason = installed()
    if (reason !== undefined) {
      process.stderr.write(`${chromiumMissing} (tried: ${reason})\n`)
      process.exitCode = 1
    }
  } else {
    process.stdout.write(`${chromiumMissing}. They are left out.\n`)
  }
}
