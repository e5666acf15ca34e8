import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// What the core provides itself uses the same contract as a plugin: no file knows it by name.

const core = join(dirname(fileURLToPath(import.meta.url)), '../../packages/core/src')
const files = readdirSync(core, { recursive: true, encoding: 'utf8' })
  .map((name) => name.split(/[\\/]/u).join(posix.sep))
  .filter((name) => name.endsWith('.ts'))

const filesWith = (literal: RegExp): readonly string[] =>
  files.filter((name) => literal.test(readFileSync(join(core, name), 'utf8')))

test('an authentication method with a secret is named only in its own file', () => {
  expect(filesWith(/['"`]client_secret_basic['"`]/u)).toEqual(['credentials/methods/basic.ts'])
  expect(filesWith(/['"`]client_secret_post['"`]/u)).toEqual(['credentials/methods/post.ts'])
})
