// Commands check what they change with the configuration of the server, also one whose users manage their accounts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printed } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'

const directory = sharedDirectory('commands-with-accounts')
const file = join(directory, 'grantry.config.json')
const declared = join(directory, 'declared.json')
const setting = {
  issuer: 'http://127.0.0.1:8484',
  storage: { driver: 'filesystem', directory: './data', fsync: false },
  administration: true,
  clients: [],
  tenants: {},
  plugins: [{ name: 'sign-in', account: { deletion: true }, accounts: { signUp: 'invitation' } }],
}

test('clients, scopes, tenants and declared files are accepted beside accounts', async () => {
  writeFileSync(file, JSON.stringify(setting), { mode: 0o600 })
  writeFileSync(declared, JSON.stringify({ scopes: [{ name: 'orders' }] }))
  const lines = [
    ['scopes', 'add', 'api1'],
    ['clients', 'add', 'batch', '--grant', 'client_credentials', '--scope', 'api1'],
    ['tenants', 'create', 'acme'],
    ['scopes', 'add', 'api2', '--tenant', 'acme'],
    ['apply', declared, '--yes'],
  ]
  for (const line of lines) {
    expect(await printed(...line, '--config', file), line.join(' ')).toMatchObject({ code: 0, err: '' })
  }
  const { out } = await printed('audit', '--kind', 'tenant', '--config', file, '--json')
  expect(JSON.parse(out)).toMatchObject([{ action: 'tenant_added', id: 'acme' }])
})
