// `grantry plan` and `grantry apply`: the plan that a person reads, and that a second one has nothing to do.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { machine, newService } from './setting.ts'

const directory = sharedDirectory('declaration')
const service = (more?: object) => newService(directory, more)

const nothing = (count: number) => `Nothing to do: 0 to add, 0 to change, 0 to remove, ${count} unchanged.\n`

describe('a plan', () => {
  test('shows what is added, changed member by member, and removed', async () => {
    const { run, out, write } = service()
    const before = [
      machine('batch', { accessTokenLifetime: 600, identityTokenLifetime: 60, tags: ['old'] }),
      machine('gone'),
      machine('same'),
    ]
    await out('apply', write({ clients: before }), '--yes')
    const batch = machine('batch', { accessTokenLifetime: 900, scopes: ['api2'], requirePkce: true, tags: ['new'] })
    const file = write({ clients: [batch, machine('same'), machine('added')] })
    expect(await out('plan', file, '--prune')).toBe(`~ client batch
    ~ accessTokenLifetime: 600 -> 900
    - identityTokenLifetime: 60
    + requirePkce: true
    ~ scopes:
    +   "api2"
    -   "api1"
    ~ tags:
    +   "new"
    -   "old"

+ client added
    + grantTypes: ["client_credentials"]
    + scopes: ["api1"]
    + secrets: a new one

- client gone

1 to add, 1 to change, 1 to remove, 1 unchanged.
`)
    // Nothing has been changed by it.
    expect((await run('clients', 'list', '--json')).out).not.toContain('added')
    expect(await out('plan', file)).toContain('1 to add, 1 to change, 0 to remove, 1 unchanged.\n')
  })

  test('ends with 2 on demand if there is something to change, and with 1 for every mistake', async () => {
    const { run, write } = service()
    const file = write({ clients: [machine('batch')] })
    expect((await run('plan', file)).code).toBe(0)
    expect((await run('plan', file, '--exit-code')).code).toBe(2)
    expect((await run('plan', file, '--exit-kode')).code).toBe(1)
    expect((await run('plan', '/nowhere.json', '--exit-code')).code).toBe(1)
    await run('apply', file, '--yes')
    expect((await run('plan', file, '--exit-code')).code).toBe(0)
  })

  test('is JSON on demand, with the versions that it has seen, and without hashes', async () => {
    const { json, out, write } = service()
    const secrets = [{ sha256: sha256Of('first') }]
    await out('apply', write({ clients: [machine('batch', { secrets })] }), '--yes')
    const { version } = await json('clients', 'show', 'batch')
    const file = write({ clients: [machine('batch', { secrets: [{ sha256: sha256Of('second') }] }), machine('new')] })
    const plan = await json('plan', file)
    expect(plan).toEqual({
      changes: [
        {
          action: 'change',
          kind: 'client',
          id: 'batch',
          version,
          members: [{ member: 'secrets', before: [{ expiresAt: null }], after: [{ expiresAt: null }] }],
        },
        {
          action: 'add',
          kind: 'client',
          id: 'new',
          members: [
            { member: 'grantTypes', after: ['client_credentials'] },
            { member: 'scopes', after: ['api1'] },
          ],
          newSecret: true,
        },
      ],
      counts: { add: 1, change: 1, remove: 0, unchanged: 0 },
    })
    expect(await out('plan', file)).toContain('~ client batch\n    ~ secrets: changed\n')
  })
})

describe('apply', () => {
  test('changes nothing the second time, in any order of members and of lists without an order', async () => {
    const { out, json, write } = service()
    const web = {
      clientId: 'web',
      grantTypes: ['authorization_code', 'refresh_token'],
      redirectUris: ['https://a.example.com/', 'https://b.example.com/'],
      scopes: ['openid', 'api1'],
      refreshToken: { retryWindow: 0, absoluteLifetime: 86_400 },
      secrets: [{ sha256: sha256Of('one'), expiresAt: '2037-01-01T00:00:00Z' }, { sha256: sha256Of('two') }],
      tags: ['b', 'a'],
    }
    await out('apply', write({ clients: [web] }), '--yes')
    const { version } = await json('clients', 'show', 'web')
    const reversed = Object.fromEntries(
      Object.entries({ ...web, refreshToken: { absoluteLifetime: 86_400, retryWindow: 0 } })
        .reverse()
        .map(([name, value]) => [name, Array.isArray(value) ? [...value].reverse() : value]),
    )
    const file = write({ clients: [reversed] })
    expect(await out('plan', file)).toBe(nothing(1))
    expect(await out('apply', file, '--yes')).toBe(nothing(1))
    expect((await json('clients', 'show', 'web')).version).toBe(version)
  })

  test('leaves alone what the file does not have, and with --prune only lists that the file does not have', async () => {
    const { out, json, write } = service()
    await out('apply', write({ clients: [machine('a'), machine('b')] }), '--yes')
    await out('apply', write({ clients: [machine('a')] }), '--yes')
    await out('apply', write({}), '--prune', '--yes')
    const ids = async () => (await json('clients', 'list')).map(({ clientId }: { clientId: string }) => clientId)
    expect(await ids()).toEqual(['a', 'b'])
    await out('apply', write({ clients: [machine('a')] }), '--prune', '--yes')
    expect(await ids()).toEqual(['a'])
    await out('apply', write({ clients: [] }), '--prune', '--yes')
    expect(await ids()).toEqual([])
  })

  test('keeps the secrets of a client without secrets in the file, and that a command has disabled it', async () => {
    const { out, json, write } = service()
    const file = write({ clients: [machine('batch')] })
    expect(await out('apply', file, '--yes')).toMatch(/^secret of the client batch: [\w-]{43}$/mu)
    await out('clients', 'rotate-secret', 'batch', '--overlap', '7d')
    await out('clients', 'disable', 'batch')
    expect(await out('apply', file, '--yes')).toBe(nothing(1))
    const client = await json('clients', 'show', 'batch')
    expect(client).toMatchObject({ enabled: false })
    expect(client.secrets).toHaveLength(2)
    await out('apply', write({ clients: [machine('batch', { enabled: true })] }), '--yes')
    expect(await json('clients', 'show', 'batch')).toMatchObject({ enabled: true })
  })

  test('removes members that the file does not have, or that are null', async () => {
    const { out, json, write } = service()
    await out(
      'apply',
      write({ clients: [machine('a', { identityTokenLifetime: 30, accessTokenLifetime: 60 })] }),
      '--yes',
    )
    await out('apply', write({ clients: [machine('a', { identityTokenLifetime: null })] }), '--yes')
    const client = await json('clients', 'show', 'a')
    expect(client).not.toHaveProperty('identityTokenLifetime')
    expect(client).not.toHaveProperty('accessTokenLifetime')
  })

  test('records each change in the audit trail', async () => {
    const { out, json, write } = service()
    await out('apply', write({ clients: [machine('a')] }), '--yes')
    await out('apply', write({ clients: [machine('a', { scopes: ['api2'] })] }), '--yes')
    await out('apply', write({ clients: [] }), '--prune', '--yes')
    const trail: readonly { action: string }[] = await json('audit')
    expect(trail.map(({ action }) => action)).toEqual(['client_removed', 'client_changed', 'client_added'])
    expect(trail[1]).toMatchObject({ before: { scopes: ['api1'] }, after: { scopes: ['api2'] } })
  })

  test('changes nothing without a confirmation', async () => {
    const { run, runWith, json, write } = service()
    const file = write({ clients: [machine('a')] })
    const refusal = 'nothing was changed: without a terminal, or from standard input, pass --yes to apply the plan'
    expect(await run('apply', file)).toMatchObject({ code: 1, err: `grantry: ${refusal}\n` })
    const input = readFileSync(file, 'utf8')
    expect((await runWith({ input }, 'apply', '-')).err).toContain(refusal)
    expect(await json('clients', 'list')).toEqual([])
    expect(await runWith({ input }, 'apply', '-', '--yes')).toMatchObject({ code: 0, err: '' })
    expect(await json('clients', 'list')).toHaveLength(1)
  })
})

describe('the secret of a new client', () => {
  test('is printed once, as JSON too', async () => {
    const { json, out, write } = service()
    const file = write({ clients: [machine('a'), machine('key', { secrets: [{ sha256: sha256Of('x') }] })] })
    const { secrets, done } = await json('apply', file, '--yes')
    expect(done).toBe(2)
    expect(secrets).toEqual({ a: expect.stringMatching(/^[\w-]{43}$/u) })
    const again = await json('apply', file, '--yes')
    expect(again).toMatchObject({ secrets: {}, done: 0, counts: { unchanged: 2 } })
    expect(`${await out('audit', '--json')}${await out('export')}`).not.toContain(secrets.a)
  })

  test('goes to a file that only this user can read, which a second apply extends', async () => {
    const { out, write } = service()
    const secrets = join(directory, 'secrets.jsonl')
    const all = await out('apply', write({ clients: [machine('a')] }), '--yes', '--secrets-file', secrets)
    expect(all).not.toContain('secret of')
    await out('apply', write({ clients: [machine('b')] }), '--yes', '--secrets-file', secrets)
    expect(statSync(secrets).mode & 0o777).toBe(0o600)
    const lines = readFileSync(secrets, 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { id: 'a', secret: expect.stringMatching(/^[\w-]{43}$/u) },
      { id: 'b', secret: expect.stringMatching(/^[\w-]{43}$/u) },
    ])
  })
})

test('the files of a directory are one declaration', async () => {
  const { out, run, json } = service()
  const files = join(directory, 'several')
  mkdirSync(files)
  writeFileSync(join(files, 'a.json'), JSON.stringify({ clients: [machine('a')] }))
  writeFileSync(join(files, 'b.jsonc'), `// Nightly.\n{ "clients": [${JSON.stringify(machine('b'))},], }`)
  writeFileSync(join(files, 'readme.md'), 'not read')
  await out('apply', files, '--yes')
  expect(await json('clients', 'list')).toHaveLength(2)
  writeFileSync(join(files, 'c.json'), JSON.stringify({ clients: [machine('c'), machine('a')] }))
  const twice = `grantry: ${files}/c.json: clients[1]: the client a is declared in ${files}/a.json: clients[0], too\n`
  expect(await run('plan', files)).toMatchObject({ code: 1, err: twice })
})
