// `npm start -- …` finds the command after the option of the whole command line.
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'

const root = sharedDirectory('start-script')
const scripts = fileURLToPath(new URL('../../scripts', import.meta.url))
mkdirSync(join(root, 'scripts'))
mkdirSync(join(root, 'packages/server/dist'), { recursive: true })
writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
for (const name of ['start.js', 'stop-with-parent.js']) copyFileSync(join(scripts, name), join(root, 'scripts', name))
writeFileSync(join(root, 'scripts/build-if-stale.js'), 'export function buildIfStale() {}')
writeFileSync(join(root, 'packages/server/dist/cli.js'), 'export const main = (line) => console.log(line.join(" "))')

test.each([
  ['', 'serve'],
  ['--port 0', 'serve --port 0'],
  ['--help', '--help'],
  ['keys list', 'keys list'],
  ['--tenant gamma scopes add api1', '--tenant gamma scopes add api1'],
  ['--tenant=gamma scopes add api1', '--tenant=gamma scopes add api1'],
])('npm start -- %s', async (typed, expected) => {
  const line = typed === '' ? [] : typed.split(' ')
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'scripts/start.js'), ...line])
  expect(stdout.trim()).toBe(expected)
})
