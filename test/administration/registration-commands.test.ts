// What `grantry registrations` prints, and what it says about mistakes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { printed } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'
import { startServer } from '../support/patient-server.ts'

const directory = sharedDirectory('registration-commands')

let count = 0
function service(
  plugins: readonly object[],
  storage: object = { driver: 'filesystem', fsync: false },
  more: object = {},
) {
  count += 1
  const file = join(directory, `c${count}.json`)
  const setting = {
    issuer: 'http://127.0.0.1:8484',
    storage: { ...storage, ...('fsync' in storage && { directory: `./data${count}` }) },
    clients: [],
    scopes: [{ name: 'api1' }],
    plugins,
    ...more,
  }
  writeFileSync(file, JSON.stringify(setting), { mode: 0o600 })
  return { file, run: (...line: readonly string[]) => printed('registrations', ...line, '--config', file) }
}

const plugins = [{ name: 'registration', scopes: ['api1'] }]
const issue = ['issue-token', '--budget', '5', '--expires-in', '7d']

test('issue-token shows the token once, and how to end it', async () => {
  const { run } = service(plugins)
  const { code, out } = await run(...issue)
  expect(code).toBe(0)
  expect(out).toMatch(
    /^It registers 5 clients until \d{4}-.*Z\. End it with: grantry registrations revoke-token token-/u,
  )
  expect(out).toMatch(/\nsecret {2}[\w-]{43}\nThis is the only time that it is shown\.\n$/u)
  const [, id = ''] = /revoke-token (\S+)/u.exec(out) ?? []
  expect(await run('revoke-token', id)).toEqual({ code: 0, out: 'Ended the token.\n', err: '' })
  expect(await run('revoke-token', id)).toEqual({ code: 1, out: 'No token has this id; it may have ended.\n', err: '' })
})

test('changes are in the audit trail of a server with one, without the token', async () => {
  const { file, run } = service(plugins, undefined, { administration: true })
  const { out } = await run(...issue)
  const [, id = ''] = /revoke-token (\S+)/u.exec(out) ?? []
  const [, secret = ''] = /secret {2}(\S+)/u.exec(out) ?? []
  await run('revoke-token', id)
  await run('remove', 'registered-client')
  const trail = await printed('audit', '--json', '--config', file)
  expect(trail.out).not.toContain(secret)
  const records = JSON.parse(trail.out) as readonly {
    readonly action: string
    readonly id: string
    readonly outcome: string
  }[]
  expect(records.map((record) => [record.action, record.id, record.outcome])).toEqual([
    ['client_registration_removed', 'registered-client', 'done'],
    ['client_registration_token_revoked', id, 'done'],
    ['client_registration_token_issued', 'registrations', 'done'],
  ])
})

test.each([
  [['show', 'web'], 'No registered client has the id web; it may have ended.\n'],
  [['remove', 'web'], 'No registered client has the id web; it may have ended.\n'],
])('%j of a client that is not registered', async (line, out) => {
  expect(await service(plugins).run(...line)).toEqual({ code: 1, out, err: '' })
})

test.each([
  [['issue-token', '--budget', '0', '--expires-in', '7d'], 2, 'It must be a whole number of at least 1.'],
  [['issue-token', '--budget', '1', '--expires-in', '7'], 2, 'It must be a number and s, m, h or d, such as 7d.'],
  [['issue-token', '--budget', '20000', '--expires-in', '7d'], 1, 'budget must be a whole number from 1 to 10000'],
  [['issue-token', '--budget', '1', '--expires-in', '400d'], 1, 'lifetime must be whole seconds from 1 to 31536000'],
  [['issue-token', '--expires-in', '7d'], 2, "required option '--budget <number>' not specified"],
])('%j is refused', async (line, code, message) => {
  expect(await service(plugins).run(...line)).toMatchObject({ code, out: '', err: expect.stringContaining(message) })
})

test('without the plugin, and with a storage in memory, the command names what is missing', async () => {
  const without = service([])
  expect((await without.run(...issue)).err).toBe(
    `grantry: ${without.file}: clients cannot register themselves; add { "name": "registration" } to plugins\n`,
  )
  const memory = service(plugins, { driver: 'memory' })
  expect((await memory.run(...issue)).err).toContain('storage.driver is memory')
})

test('grantry revoke knows registered clients, and cannot know whose metadata documents exist', async () => {
  const open = { name: 'registration', scopes: ['api1'], open: true }
  const { file } = service([{ name: 'sign-in' }, open, { name: 'client-metadata', scopes: ['api1'] }])
  const server = await startServer({ loaded: await loadConfiguration(file, {}), port: 0, observe: () => {} })
  onTestFinished(() => server.close(0))
  const response = await fetch(`http://127.0.0.1:${server.running.port}/connect/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"redirect_uris":["https://client.example.com/cb"]}',
  })
  const { client_id: clientId } = await response.json()
  const revoke = (id: string) => printed('revoke', '--client', id, '--config', file)
  expect(await revoke(clientId)).toMatchObject({
    code: 0,
    out: `Revoked everything issued so far to the client ${clientId}. The client can request new tokens.\n`,
  })
  expect(await revoke('https://client.example.com/client.json')).toMatchObject({
    code: 0,
    out: 'Revoked everything issued so far to the client https://client.example.com/client.json, if it exists.\n',
  })
  expect(await revoke('registered-nosuch')).toMatchObject({
    code: 1,
    out: expect.stringContaining('no client registered-nosuch'),
  })
})
