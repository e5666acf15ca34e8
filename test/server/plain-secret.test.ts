import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'grantry-secret-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const options = {
  module: 'nodenext',
  target: 'es2022',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  customConditions: ['@grantry/source'],
  types: ['node'],
}

test('the compiler names hashSecret where a plain secret is configured', () => {
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['a.ts'] }))
  writeFileSync(
    join(directory, 'a.ts'),
    `import type { ClientOptions } from '@grantry/core'
export const client: ClientOptions = { clientId: 'web', secrets: ['plain-secret'] }
`,
  )
  const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', directory], {
    encoding: 'utf8',
  })
  expect(stdout).toMatch(/a\.ts\(2,.+ HashSecretOutput/u)
})
