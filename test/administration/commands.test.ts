// `grantry clients` and `grantry audit`: what they print, and how they refuse wrong input.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { printed, printedWith } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'

const directory = sharedDirectory('administration')

let count = 0
/** Writes a configuration with its own storage. */
function configuration(more: object = {}): string {
  count += 1
  const file = join(directory, `c${count}.json`)
  const storage = { driver: 'filesystem', directory: `./data${count}`, fsync: false }
  const scopes = [{ name: 'api1' }, { name: 'api2' }]
  const setting = { issuer: 'http://127.0.0.1:8484', storage, administration: true, clients: [], scopes, ...more }
  writeFileSync(file, JSON.stringify(setting), { mode: 0o600 })
  return file
}

const commandsOn = (file: string) => ({
  run: (...line: readonly string[]) => printed(...line, '--config', file),
  async json(...line: readonly string[]) {
    const { code, out, err } = await printed(...line, '--config', file, '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return JSON.parse(out)
  },
})

const newService = (more?: object) => commandsOn(configuration(more))
const machine = ['--grant', 'client_credentials', '--scope', 'api1']

describe('grantry clients', () => {
  test('add shows a new secret once, and no command shows its hash', async () => {
    const { run, json } = newService()
    const { out } = await run('clients', 'add', 'batch', ...machine, '--tag', 'nightly', 'team-a')
    const secret = /^secret {2}([\w-]{43})$/mu.exec(out)?.[1] ?? ''
    expect(secret).not.toBe('')
    const client = await json('clients', 'show', 'batch')
    expect(client).toMatchObject({
      clientId: 'batch',
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
      secrets: [{ expiresAt: null }],
      tags: ['nightly', 'team-a'],
    })
    const all = [await run('clients', 'show', 'batch'), await run('clients', 'list'), await run('audit')]
    const texts = [...all.map((ended) => ended.out), JSON.stringify([client, await json('audit')])].join('\n')
    for (const hidden of [secret, sha256Of(secret)]) expect(texts).not.toContain(hidden)
  })

  test('add takes the members from a file, from standard input, and as JSON', async () => {
    const { run, json } = newService()
    const file = join(directory, 'members.json')
    writeFileSync(file, JSON.stringify({ grantTypes: ['client_credentials'], scopes: ['api1'] }))
    expect((await run('clients', 'add', 'one', '--file', file)).code).toBe(0)
    expect(await json('clients', 'show', 'one')).toMatchObject({ scopes: ['api1'] })
    const path = configuration()
    const input = readFileSync(file, 'utf8')
    const two = await printedWith(
      { input },
      'clients',
      'add',
      'two',
      '--file',
      '-',
      '--set',
      'scopes=["api2"]',
      '--config',
      path,
    )
    expect(two).toMatchObject({ code: 0, err: '' })
    expect(await commandsOn(path).json('clients', 'show', 'two')).toMatchObject({ scopes: ['api2'] })
  })

  test('add of a public client creates no secret', async () => {
    const { run, json } = newService()
    const line = ['--public', '--grant', 'authorization_code', '--redirect-uri', 'https://app.example.com/callback']
    expect((await run('clients', 'add', 'app', ...line, '--scope', 'api1')).out).toBe('Added the client app.\n')
    expect(await json('clients', 'show', 'app')).not.toHaveProperty('secrets')
    expect((await run('clients', 'rotate-secret', 'app')).err).toContain('the client app is public: it has no secret')
  })

  test('list shows a table, and filters by prefix and label', async () => {
    const { run, json } = newService()
    for (const id of ['b', 'a-2', 'a-1']) await run('clients', 'add', id, ...machine)
    await run('clients', 'edit', 'a-2', '--tag', 'old')
    const { out } = await run('clients', 'list')
    expect(out.split('\n').map((line) => line.split(/ {2,}/u).slice(0, 5))).toEqual([
      ['ID', 'STATE', 'GRANT TYPES', 'SCOPES', 'TAGS'],
      ['a-1', 'enabled', 'client_credentials', 'api1', '-'],
      ['a-2', 'enabled', 'client_credentials', 'api1', 'old'],
      ['b', 'enabled', 'client_credentials', 'api1', '-'],
      [''],
    ])
    const idsOf = async (...line: readonly string[]) =>
      (await json('clients', 'list', ...line)).map(({ clientId }: { clientId: string }) => clientId)
    expect(await idsOf('--prefix', 'a-')).toEqual(['a-1', 'a-2'])
    expect(await idsOf('--tag', 'old')).toEqual(['a-2'])
  })

  test('edit sets and removes members, at the version that the administrator has seen', async () => {
    const { run, json } = newService()
    await run('clients', 'add', 'batch', ...machine)
    const { version } = await json('clients', 'show', 'batch')
    const edited = await json('clients', 'edit', 'batch', '--set', 'accessTokenLifetime=600', '--if-version', version)
    expect(edited).toMatchObject({ accessTokenLifetime: 600, scopes: ['api1'] })
    const late = await run('clients', 'edit', 'batch', '--set', 'accessTokenLifetime=60', '--if-version', version)
    expect(late).toMatchObject({ code: 1, out: '' })
    expect(late.err).toBe('grantry: the client batch was changed meanwhile; look at it and try again\n')
    expect(await json('clients', 'edit', 'batch', '--unset', 'accessTokenLifetime')).not.toHaveProperty(
      'accessTokenLifetime',
    )
    const [removed, set] = await json('audit')
    expect(set).toMatchObject({
      action: 'client_changed',
      id: 'batch',
      before: {},
      after: { accessTokenLifetime: 600 },
    })
    expect(removed).toMatchObject({ before: { accessTokenLifetime: 600 }, after: {} })
    expect(set.who).toMatch(/.@./u)
  })

  test('rotate-secret lets the earlier secrets end, at the latest when they would have', async () => {
    const { run, json } = newService()
    await run('clients', 'add', 'batch', ...machine)
    const first = await json('clients', 'rotate-secret', 'batch', '--overlap', '7d')
    const [old, fresh] = first.secrets
    expect(fresh).toEqual({ expiresAt: null })
    const second = await json('clients', 'rotate-secret', 'batch', '--overlap', '30d')
    expect(second.secrets).toHaveLength(3)
    expect(second.secrets[0]).toEqual(old)
    expect(second.secrets[1].expiresAt).toBeGreaterThan(old.expiresAt)
    expect((await json('clients', 'rotate-secret', 'batch')).secrets).toEqual([{ expiresAt: null }])
  })
})

test('audit shows the changes of a kind, an id, an administrator and a time', async () => {
  const { run, json } = newService()
  await run('clients', 'add', 'batch', ...machine)
  await run('scopes', 'add', 'orders')
  const idsOf = async (...line: readonly string[]) => (await json('audit', ...line)).map(({ id }: { id: string }) => id)
  expect(await idsOf()).toEqual(['orders', 'batch'])
  expect(await idsOf('--kind', 'client')).toEqual(['batch'])
  expect(await idsOf('--id', 'orders')).toEqual(['orders'])
  const [{ who, time }] = await json('audit')
  expect(await idsOf('--who', who, '--since', time)).toEqual(['orders'])
  expect(await idsOf('--until', '2020-01-01')).toEqual([])
})

test('disable works for a client whose scope no longer exists', async () => {
  const file = configuration()
  const { run, json } = commandsOn(file)
  await run('clients', 'add', 'batch', ...machine)
  const setting = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...setting, scopes: [{ name: 'api2' }] }))
  expect(await json('clients', 'disable', 'batch')).toMatchObject({ enabled: false })
  expect((await run('clients', 'enable', 'batch')).err).toContain('has the scope api1, which is not declared in scopes')
})

test('grantry revoke knows the clients in the storage', async () => {
  const { run } = newService()
  await run('clients', 'add', 'batch', ...machine)
  expect(await run('revoke', '--client', 'batch')).toMatchObject({ code: 0, err: '' })
  expect((await run('revoke', '--client', 'unknown')).out).toContain('no client unknown is configured')
})

describe('wrong input is refused with one sentence, and writes nothing', () => {
  const cases: readonly (readonly [line: readonly string[], sentence: string])[] = [
    [['clients', 'add', 'batch', ...machine], 'there is a client batch already; edit it, or remove it'],
    [['clients', 'add', 'static', ...machine], 'clients has a client static already; edit it there'],
    [
      ['clients', 'add', 'x', '--grant', 'client_credential'],
      'x uses the grant type client_credential, which no plugin provides',
    ],
    [['clients', 'add', 'x', '--scope', 'api3'], 'x has the scope api3, which is not declared in scopes'],
    [['clients', 'add', 'x', '--redirect-uri', 'https://example.com/#a'], 'client x: redirectUris[0]'],
    [['clients', 'add', 'x', '--set', 'acessTokenLifetime=1'], 'did you mean accessTokenLifetime?'],
    [
      ['clients', 'edit', 'batch', '--set', 'enabled=false', 'acessTokenLifetime=1'],
      'did you mean accessTokenLifetime?',
    ],
    [['clients', 'add', 'caf\u00e9', ...machine], 'must be 1 to 100 printable ASCII characters'],
    [['clients', 'edit', 'batch', '--set', 'scopes'], '--set takes a member and its value in JSON'],
    [['clients', 'edit', 'batch', '--set', 'clientName=Batch'], 'the value is not JSON; write text in quotes'],
    [['clients', 'edit', 'batch'], 'nothing to change; name a member'],
    [['clients', 'edit', 'unknown', '--scope', 'api1'], 'there is no client unknown in the storage'],
    [['clients', 'edit', 'batch', '--file', '/nowhere.json'], 'cannot read /nowhere.json (ENOENT)'],
    [['clients', 'remove', 'unknown'], 'there is no client unknown in the storage'],
    [['clients', 'rotate-secret', 'batch', '--overlap', '7'], 'It must be a number and s, m, h or d, such as 7d.'],
    [['audit', '--kind', 'clients'], 'Allowed choices are client, scope, user, tenant, key.'],
    [['audit', '--since', '2026-11-26T10:00'], 'It must be a date, or a time with a zone'],
    [['audit', '--limit', '0'], 'It must be a number from 1 to 999999.'],
  ]
  const configured = {
    clientId: 'static',
    secrets: [{ sha256: sha256Of('s') }],
    grantTypes: ['client_credentials'],
    scopes: ['api1'],
  }

  test.each(cases)('%j', async (line, sentence) => {
    const { run, json } = newService({ clients: [configured] })
    await run('clients', 'add', 'batch', ...machine)
    const [before, trail] = [await json('clients', 'list'), await json('audit')]
    const { code, out, err } = await run(...line)
    expect({ failed: code !== 0, out }).toEqual({ failed: true, out: '' })
    expect(err).toContain(sentence)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    expect([await json('clients', 'list'), await json('audit')]).toEqual([before, trail])
  })

  test('without "administration", and with a storage in memory', async () => {
    const off = await newService({ administration: false }).run('clients', 'list')
    expect(off.err).toContain(
      'nothing in the storage can be changed by commands; set "administration": true, and restart the server',
    )
    const memory = await newService({ storage: { driver: 'memory' } }).run('clients', 'list')
    expect(memory.err).toContain('storage.driver is memory, which only the server process can access')
  })
})

test('a server does not start with a client in the configuration and in the storage', async () => {
  const file = configuration()
  const { run } = commandsOn(file)
  await run('clients', 'add', 'web', ...machine)
  const setting = JSON.parse(readFileSync(file, 'utf8'))
  const clients = [
    { clientId: 'web', grantTypes: ['client_credentials'], scopes: ['api1'], secrets: [{ sha256: sha256Of('s') }] },
  ]
  writeFileSync(file, JSON.stringify({ ...setting, clients }))
  const { code, err } = await printed('serve', '--config', file, '--port', '0')
  expect(code).toBe(1)
  expect(err).toContain('the client web is in the storage, too; remove it here, or there with grantry clients remove')
})

test('a name with control sequences does not reach the terminal', async () => {
  const { run } = newService()
  const name = JSON.stringify('\u001b[2J\u202eBatch')
  await run('clients', 'add', 'batch', ...machine, '--tag', '\u001b[31mred', '--set', `clientName=${name}`)
  for (const line of [['clients', 'list'], ['clients', 'show', 'batch'], ['audit']]) {
    const { out } = await run(...line)
    expect(['\u001b', '\u202e'].filter((character) => out.includes(character))).toEqual([])
  }
})
