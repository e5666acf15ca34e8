// Checks for the Debian programs that some tests need. With CI=true, installs missing ones and fails if that is
// impossible; otherwise reports that their tests are skipped.
import { spawnSync } from 'node:child_process'
import { chromiumMissing, findChromium } from './find-chromium.js'

const isInstalled = (program, flag = '--version') => spawnSync(program, [flag], { stdio: 'ignore' }).status === 0

const programs = [
  {
    package: 'redis-server',
    isAvailable: () => isInstalled('redis-server'),
    missing: 'redis-server is not installed, but the tests of the Redis driver need it: apt-get install redis-server',
  },
  {
    package: 'nginx-light',
    isAvailable: () => isInstalled('nginx', '-v'),
    missing: 'nginx is not installed, but the tests of mutual TLS behind a proxy need it: apt-get install nginx-light',
  },
  { package: 'chromium', isAvailable: () => findChromium() !== undefined, missing: chromiumMissing },
  {
    package: 'systemd',
    isAvailable: () => isInstalled('systemd-analyze'),
    missing: 'systemd-analyze is not installed, but the check of the systemd unit needs it: apt-get install systemd',
  },
]

// The policy prevents packages from starting a service, as Redis does on port 6379. An existing policy is kept.
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

/** Installs a program. Returns why that failed, or `undefined`. */
function reasonAgainst(program) {
  const shell = ['sh', '-c', install(program.package)]
  const [command, ...parameters] = process.getuid?.() === 0 ? shell : ['sudo', '-n', ...shell]
  const { status, error, stderr } = spawnSync(command, parameters, { encoding: 'utf8' })
  if (status === 0) return program.isAvailable() ? undefined : 'apt-get did not install it'
  return error?.message ?? stderr.trim().split('\n').at(-1)
}

for (const program of programs.filter(({ isAvailable }) => !isAvailable())) {
  if (process.env.CI === 'true') {
    const reason = reasonAgainst(program)
    if (reason !== undefined) {
      process.stderr.write(`${program.missing} (tried: ${reason})\n`)
      process.exitCode = 1
    }
  } else {
    process.stdout.write(`${program.missing}. Skipping these tests.\n`)
  }
}
