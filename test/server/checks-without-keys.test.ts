// A command that checks what it changes generates no keys for it: RSA keys would take most of its time.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { printed } from './printed.ts'

const directory = sharedDirectory('checks-without-keys')
const file = join(directory, 'grantry.config.json')
const setting = {
  issuer: 'http://127.0.0.1:8484',
  storage: { driver: 'filesystem', directory: './data', fsync: false },
  administration: true,
  clients: [],
  scopes: [{ name: 'api1' }],
  users: [],
  plugins: [{ name: 'sign-in' }],
  tenants: { list: [] },
}
const write = (name: string, content: object): string => {
  const path = join(directory, name)
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 })
  return path
}
const client = [
  '--grant',
  'authorization_code',
  '--redirect-uri',
  'https://web.example/cb',
  '--scope',
  'openid',
  '--scope',
  'api1',
]
const declared = { clients: [{ clientId: 'declared', public: true, grantTypes: [], scopes: [] }] }

describe('a command on a storage that has keys', () => {
  beforeAll(async () => {
    write('grantry.config.json', setting)
    expect(await printed('clients', 'add', 'web', ...client, '--config', file)).toMatchObject({ code: 0, err: '' })
    expect((await printed('keys', 'list', '--config', file)).out).toContain('RS256')
  })
  afterEach(() => void vi.restoreAllMocks())

  test.each<[string, readonly string[], number]>([
    ['adds a client', ['clients', 'add', 'web2', ...client], 0],
    ['changes a client', ['clients', 'edit', 'web', '--set', 'clientName="Web"'], 0],
    ['refuses a client', ['clients', 'edit', 'web', '--set', 'identityTokenAlgorithm="EdDSA"'], 1],
    ['adds a scope', ['scopes', 'add', 'api2'], 0],
    ['creates a tenant', ['tenants', 'create', 'acme'], 0],
    ['makes a plan', ['plan', write('declared.json', declared)], 0],
    ['checks', ['check'], 0],
    ['reports mistakes', ['check', '--config', write('wrong.json', { ...setting, clients: [{}] })], 1],
  ])('%s without generating a key', async (_what, line, expected) => {
    const generated = vi.spyOn(crypto.subtle, 'generateKey')
    const { code, err } = await printed(...line, ...(line.includes('--config') ? [] : ['--config', file]))
    expect({ code, err: code === expected ? '' : err }).toEqual({ code: expected, err: '' })
    expect(generated).not.toHaveBeenCalled()
  })
})
