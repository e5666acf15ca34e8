// Mistakes that someone new makes with commands for clients, scopes and users, and what the commands print about them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printed, printedWith } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'

const directory = sharedDirectory('command-mistakes')
const password = '$argon2id$v=19$m=19456,t=2,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$Jd4jhaelCjNTxvEYiwY3IVLLjXeXMjSqtBdhpK7V4fk'

let count = 0
/** Writes a configuration with a client, a scope and a user, and runs commands with it. */
function newService() {
  count += 1
  const file = join(directory, `c${count}.json`)
  const setting = {
    issuer: 'http://127.0.0.1:8484',
    storage: { driver: 'filesystem', directory: `./data${count}`, fsync: false },
    administration: true,
    clients: [{ clientId: 'web', public: true, grantTypes: [], scopes: [] }],
    scopes: [{ name: 'api1' }],
    users: [{ sub: 'u1', username: 'alice', password }],
    tenants: { list: [{ name: 'acme' }] },
  }
  writeFileSync(file, JSON.stringify(setting), { mode: 0o600 })
  return { file, run: (...line: readonly string[]) => printed(...line, '--config', file) }
}

test.each([
  [['clients', 'show', 'web'], 'clients has web, which is not in the storage; change it there'],
  [['clients', 'edit', 'web', '--name', 'Web'], 'clients has web, which is not in the storage; change it there'],
  [['clients', 'disable', 'web'], 'clients has web, which is not in the storage; change it there'],
  [['clients', 'rotate-secret', 'web'], 'clients has web, which is not in the storage; change it there'],
  [['clients', 'remove', 'web'], 'clients has web, which is not in the storage; change it there'],
  [['scopes', 'show', 'api1'], 'scopes has api1, which is not in the storage; change it there'],
  [['scopes', 'disable', 'api1'], 'scopes has api1, which is not in the storage; change it there'],
  [['tenants', 'show', 'acme'], 'tenants has acme, which is not in the storage; change it there'],
  [
    ['tenants', 'edit', 'acme', '--set', 'enabled=false'],
    'tenants has acme, which is not in the storage; change it there',
  ],
  [['tenants', 'end', 'acme'], 'tenants has acme, which is not in the storage; change it there'],
  [['users', 'disable', 'u1'], 'users has u1, which is not in the storage; change it there'],
])('%j says that the configuration has it', async (line, message) => {
  const { file, run } = newService()
  expect(await run(...line)).toEqual({ code: 1, out: '', err: `grantry: ${file}: ${message}\n` })
})

test.each([
  ['enabled=false', 'unexpected enabled=false; to change a member, write --set enabled=false'],
  ['disabled', 'unexpected disabled; to change a member, write --set homePage=false'],
])('tenants edit explains a member without an option: %s', async (bare, message) => {
  const { run } = newService()
  expect((await run('tenants', 'edit', 'gamma', bare)).err).toBe(`grantry: ${message}\n`)
})

test('what is in neither place is not found', async () => {
  const { run } = newService()
  expect((await run('clients', 'show', 'wbe')).err).toContain(
    'there is no client wbe in the storage; check the spelling',
  )
})

test('--unset refuses what is not there, such as a member with a typing mistake, and changes nothing', async () => {
  const { run } = newService()
  await run('clients', 'add', 'batch', '--grant', 'client_credentials')
  await run('scopes', 'add', 'api2')
  await run('users', 'add', 'bob', '--no-password', '--claim', 'email=bob@example.com')
  const before = (await run('audit')).out
  const refusals = [
    [['clients', 'edit', 'batch', '--unset', 'grantType'], 'the client batch has no grantType; it has'],
    [['scopes', 'edit', 'api2', '--unset', 'claim'], 'the scope api2 has no claim; it has'],
    [['users', 'edit', 'bob', '--unset', 'claim'], 'has no claim; it has'],
    [['users', 'edit', 'bob', '--unset-claim', 'mail'], 'the user bob has no claim mail; it has email'],
  ] as const
  for (const [line, message] of refusals) {
    expect(await run(...line)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) })
  }
  expect((await run('audit')).out).toBe(before)
})

test.each(['{', 'SECRET', '{"a":SECRET}', '-----BEGIN SECRET'])(
  '--file - is called standard input, and %j is not quoted',
  async (input) => {
    const { file } = newService()
    const { err } = await printedWith({ input }, 'clients', 'add', 'batch', '--file', '-', '--config', file)
    expect(err).toContain('grantry: standard input is not JSON')
    expect(err).not.toContain('SECRET')
  },
)

test('rotate-secret says when servers know the new secret', async () => {
  const { run } = newService()
  await run('clients', 'add', 'batch', '--grant', 'client_credentials')
  const { out } = await run('clients', 'rotate-secret', 'batch', '--overlap', '1h')
  expect(out).toContain('Running servers know it within 5 seconds; the earlier secrets work until ')
  const replaced = await run('clients', 'rotate-secret', 'batch')
  expect(replaced.out).toContain('Running servers know it within 5 seconds; then the earlier secrets no longer work.')
})

test('show starts with the id, and has the ends of secrets as times', async () => {
  const { run } = newService()
  await run('clients', 'add', 'batch', '--grant', 'client_credentials')
  await run('clients', 'rotate-secret', 'batch', '--overlap', '1h')
  const { out } = await run('clients', 'show', 'batch')
  expect(out).toMatch(/^clientId +batch\n/u)
  expect(out).toMatch(/^secrets +\[\{"expiresAt":"\d{4}-\d\d-\d\dT[\d:.]+Z"\},\{"expiresAt":null\}\]$/mu)
})
