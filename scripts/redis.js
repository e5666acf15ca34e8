// Before the tests: is there a redis-server to run those of the Redis driver with? In a build (CI=true) it is installed where it is missing,
// and a build without it fails; elsewhere the tests that need it are left out.
import { spawnSync } from 'node:child_process'

const missing = 'redis-server is not installed, and tests of the Redis driver need it: apt-get install redis-server'

// The package would start a service on port 6379; a policy that is there already is somebody's.
const install = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\\nexit 101\\n' > "$policy" && chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
get() { apt-get install -y --no-install-recommends redis-server; }
get || { apt-get update && get; }
`

const isThere = () => spawnSync('redis-server', ['--version']).status === 0

/** Why it could not be installed; `undefined` when it is there now. */
function installed() {
  const shell = ['sh', '-c', install]
  const [command, ...parameters] = process.getuid?.() === 0 ? shell : ['sudo', '-n', ...shell]
  const { status, error, stderr } = spawnSync(command, parameters, { encoding: 'utf8' })
  if (status === 0) return isThere() ? undefined : 'apt-get has installed none'
  return error?.message ?? stderr.trim().split('\n').at(-1)
}

if (!isThere()) {
  if (process.env.CI === 'true') {
    const reason = installed()
    if (reason !== undefined) {
      process.stderr.write(`${missing} (tried: ${reason})\n`)
      process.exitCode = 1
    }
  } else {
    process.stdout.write(`${missing}. They are left out.\n`)
  }
}
