// `npm run start:bun -- --config grantry.config.json`, and `start:deno`: the standalone server on another runtime, with
// the command line of `npm start`. Uses the runtime in runtimes/ if installed (npm run runtimes), otherwise the one on
// the PATH.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildIfStale } from './build-if-stale.js'
import { stopWithParent } from './stop-with-parent.js'

const [name, ...options] = process.argv.slice(2)

// The server listens, reads its configuration and keys, and writes its records.
const permissions = ['--allow-net', '--allow-read', '--allow-write', '--allow-env', '--allow-sys']
const ways = { bun: ['run'], deno: ['run', '--no-config', '--node-modules-dir=manual', ...permissions] }

const ours = fileURLToPath(new URL(`../runtimes/node_modules/.bin/${name}`, import.meta.url))
const start = fileURLToPath(new URL('start.js', import.meta.url))

// Before the build: the parent may exit while it runs.
stopWithParent()
buildIfStale()
const child = spawn(existsSync(ours) ? ours : name, [...ways[name], start, ...options], { stdio: 'inherit' })
child.once('error', (error) => {
  process.stderr.write(`${name} cannot be started (${error.code}); install it with npm run runtimes\n`)
  process.exitCode = 1
})
child.once('exit', (code) => {
  process.exitCode = code ?? 1
})
// A terminal sends Ctrl-C to both processes; a supervisor signals only this one.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
process.on('SIGHUP', () => child.kill('SIGHUP'))
