// Installs the Debian programs that some tests need, if this user may do that: as root, and with CI=true through sudo.
import { spawnSync } from 'node:child_process'
import { findChromium } from './find-chromium.js'
import { reportNotRun } from './not-run.js'

const isInstalled = (program, flag = '--version') => spawnSync(program, [flag], { stdio: 'ignore' }).status === 0

const programs = [
  { package: 'redis-server', tests: 'Redis', isAvailable: () => isInstalled('redis-server') },
  { package: 'postgresql', tests: 'PostgreSQL', isAvailable: () => isInstalled('pg_lsclusters', '--help') },
  { package: 'slapd', tests: 'users in an LDAP directory', isAvailable: () => isInstalled('slapd', '-VV') },
  { package: 'pgbouncer', tests: 'PostgreSQL behind PgBouncer', isAvailable: () => isInstalled('pgbouncer') },
  { package: 'nginx-light', tests: 'mutual TLS behind nginx', isAvailable: () => isInstalled('nginx', '-v') },
  { package: 'prometheus', tests: 'the alerts for Prometheus', isAvailable: () => isInstalled('promtool') },
  { package: 'chromium', tests: 'pages in Chromium', isAvailable: () => findChromium() !== undefined },
  { package: 'zsh', tests: 'the completion for zsh', isAvailable: () => isInstalled('zsh') },
  { package: 'fish', tests: 'the completion for fish', isAvailable: () => isInstalled('fish') },
  { package: 'systemd', tests: 'the systemd unit', isAvailable: () => isInstalled('systemd-analyze') },
]

// The policy prevents packages from starting a service, as Redis does on port 6379. An existing policy is kept.
const install = (names) => `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\\nexit 101\\n' > "$policy" && chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
get() { apt-get install -y --no-install-recommends ${names}; }
get || { apt-get update && get; }
`

const missing = () => programs.filter(({ isAvailable }) => !isAvailable())
const namesOf = (some) => some.map((each) => each.package).join(' ')

/** Returns the last line of an installation that failed. */
function failureOf([command, ...parameters]) {
  const { status, error, stderr } = spawnSync(command, parameters, { encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim().split('\n').at(-1))
}

const wanted = namesOf(missing())
const isRoot = process.getuid?.() === 0
if (wanted !== '' && isInstalled('apt-get') && (isRoot || process.env.CI === 'true')) {
  const failure = failureOf([...(isRoot ? [] : ['sudo', '-n']), 'sh', '-c', install(wanted)])
  if (failure !== undefined) process.stderr.write(`apt-get install ${wanted} failed: ${failure}\n`)
}
const still = missing()
if (still.length > 0) {
  reportNotRun(`the tests of ${still.map(({ tests }) => tests).join(', ')}`, `apt-get install ${namesOf(still)}`)
}
