// Before the tests: are the programs of Debian there that some of them need? In a build (CI=true) what is missing is installed, and a build without it
// fails; elsewhere the tests that need it are left out.
import { spawnSync } from 'node:child_process'
import { chromiumMissing, findChromium } from './find-chromium.js'

const answers = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

const programs = [
  {
    package: 'redis-server',
    isThere: () => answers('redis-server'),
    missing: 'redis-server is not installed, and tests of the Redis driver need it: apt-get install redis-server',
  },
  { package: 'chromium', isThere: () => findChromium() !== undefined, missing: chromiumMissing },
  {
    package: 'systemd',
    isThere: () => answers('systemd-analyze'),
    missing: 'systemd-analyze is not installed, and the check of the systemd unit needs it: apt-get install systemd',
  },
]

// A package may start a service, as that of Redis does on port 6379; a policy that is there already is somebody's.
const install = (name) => `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\\nexit 101\\n' > "$policy" && chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
get() { apt-get install -y --no-install-recommends ${name}; }
get || { apt-get update && get; }
`

/** Why it could not be installed; `undefined` when it is there now. */
function reasonAgainst(program) {
  const shell = ['sh', '-c', install(program.package)]
  const [command, ...parameters] = process.getuid?.() === 0 ? shell : ['sudo', '-n', ...shell]
  const { status, error, stderr } = spawnSync(command, parameters, { encoding: 'utf8' })
  if (status === 0) return program.isThere() ? undefined : 'apt-get has installed none'
  return error?.message ?? stderr.trim().split('\n').at(-1)
}

for (const program of programs.filter(({ isThere }) => !isThere())) {
  if (process.env.CI === 'true') {
    const reason = reasonAgainst(program)
    if (reason !== undefined) {
      process.stderr.write(`${program.missing} (tried: ${reason})\n`)
      process.exitCode = 1
    }
  } else {
    process.stdout.write(`${program.missing}. They are left out.\n`)
  }
}
