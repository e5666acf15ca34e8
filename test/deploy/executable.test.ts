// The server as one program, which `scripts/release/executable.js` writes: it runs without Node.js, and without other files.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basic } from '@grantry/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeExecutable } from '../../scripts/release/executable.js'
import { diskTemporaryDirectory } from '../support/directory.ts'
import { runProgram } from '../support/program.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { root, singleFile } from './single-file.ts'
import { startServer } from './started-server.ts'

const configuration = `
import { defineConfig } from 'grantry'
const options = { issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [], scopes: [], plugins: ['./hello.mjs'] }
export default defineConfig(options satisfies object)
`
const plugin = `
import { defineGrant } from '@grantry/core'
import * as v from 'valibot'
export default () => defineGrant({
  grantType: 'urn:example:hello',
  params: v.object({ name: v.string() }),
  handle: ({ params, scopes }) => ({ subject: { sub: params.name, amr: ['hello'] }, scopes }),
})
`

describeWithRuntime('the executable', runtimeExecutable('.bin/bun'), () => {
  // Two copies of Bun are too large for a directory in memory.
  const directory = mkdtempSync(join(diskTemporaryDirectory(), 'grantry-executable-test-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  const program = join(directory, 'grantry')
  const environment = { PATH: '', HOME: directory }
  let server = ''
  beforeAll(async () => {
    server = await singleFile()
    writeExecutable(program, { server })
  })

  test('is the same bytes in another directory, and contains no path of this machine', () => {
    const otherDirectory = join(directory, 'another directory/deeper')
    mkdirSync(otherDirectory, { recursive: true })
    writeFileSync(join(otherDirectory, 'grantry.mjs'), readFileSync(server))
    writeExecutable(join(otherDirectory, 'grantry'), { server: join(otherDirectory, 'grantry.mjs') })
    const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')
    expect(digest(join(otherDirectory, 'grantry'))).toBe(digest(program))
    const bytes = readFileSync(program)
    for (const path of [root, directory]) {
      expect(bytes.includes(Buffer.from(path, 'utf8'))).toBe(false)
      expect(bytes.includes(Buffer.from(path, 'utf16le'))).toBe(false)
    }
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('signs a user in by the demo, and ends with 0 on %s', async (signal) => {
    const started = await startServer([program], { cwd: directory, environment })
    const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
    const response = await fetch(`${started.url}/connect/token`, {
      method: 'POST',
      headers: { authorization: basic(['demo', 'demo-secret']) },
      body: new URLSearchParams(form),
    })
    expect(await response.json()).toMatchObject({ token_type: 'Bearer' })
    started.signal(signal)
    expect(await started.ended).toBe(0)
  })

  test('loads a configuration in TypeScript, and a plugin', async () => {
    writeFileSync(join(directory, 'grantry.config.ts'), configuration)
    writeFileSync(join(directory, 'hello.mjs'), plugin)
    const more = ['--config', 'grantry.config.ts']
    const started = await startServer([program], { cwd: directory, environment, arguments: more })
    const discovery = await fetch(`${started.url}/.well-known/openid-configuration`)
    expect(await discovery.json()).toMatchObject({
      grant_types_supported: expect.arrayContaining(['urn:example:hello']),
    })
    expect(await started.stop()).toBe(0)
  })

  test('reports an invalid configuration in one line', async () => {
    writeFileSync(join(directory, 'wrong.json'), JSON.stringify({ issuer: 'https://id.example.com', client: [] }))
    const wrong = runProgram([program, 'serve', '--config', 'wrong.json', '--log-format', 'text'], {
      cwd: directory,
      environment,
    })
    expect(await wrong.ended).toBe(1)
    expect(wrong.output()).toEqual({ out: '', err: expect.stringMatching(/^grantry: .*client.*\n$/u) })
  })
})
