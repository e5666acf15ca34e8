// `grantry scopes`: what the commands print, and how they refuse wrong input.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { printed } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'

const directory = sharedDirectory('scope-commands')

let count = 0
function newService(more: object = {}) {
  count += 1
  const file = join(directory, `c${count}.json`)
  const storage = { driver: 'filesystem', directory: `./data${count}`, fsync: false }
  const setting = { issuer: 'http://127.0.0.1:8484', storage, administration: true, clients: [], scopes: [], ...more }
  const configure = (changes: object) =>
    writeFileSync(file, JSON.stringify({ ...setting, ...changes }), { mode: 0o600 })
  configure({})
  const run = (...line: readonly string[]) => printed(...line, '--config', file)
  return {
    configure,
    run,
    async json(...line: readonly string[]) {
      const { code, out, err } = await run(...line, '--json')
      expect({ code, err }).toEqual({ code: 0, err: '' })
      return JSON.parse(out)
    },
  }
}

describe('grantry scopes', () => {
  test('add, list, show, edit and remove a scope', async () => {
    const { run, json } = newService()
    await run('scopes', 'add', 'api1', '--audience', 'https://api1.example.com', '--claim', 'email', '--tag', 'team-a')
    expect(await json('scopes', 'show', 'api1')).toMatchObject({
      name: 'api1',
      audience: 'https://api1.example.com',
      claims: ['email'],
      tags: ['team-a'],
    })
    await run('scopes', 'disable', 'api1')
    expect((await run('scopes', 'list')).out).toMatch(/api1\s+disabled\s+https:\/\/api1.example.com\s+email\s+team-a/u)
    await run('scopes', 'enable', 'api1')
    await run('scopes', 'edit', 'api1', '--set', 'unrestrictedIntrospection=true', '--unset', 'claims')
    expect(await json('scopes', 'show', 'api1')).toMatchObject({ enabled: true, unrestrictedIntrospection: true })
    expect(await json('scopes', 'show', 'api1')).not.toHaveProperty('claims')
    expect((await run('scopes', 'remove', 'api1')).out).toBe('Removed the scope api1.\n')
    expect(await json('scopes', 'list')).toEqual([])
  })

  test('show a secret once, and no command and no record shows its hash', async () => {
    const { run, json } = newService()
    const { out } = await run('scopes', 'add', 'api1', '--secret')
    const secret = /^secret {2}([\w-]{43})$/mu.exec(out)?.[1] ?? ''
    expect(secret).not.toBe('')
    const { secret: next } = await json('scopes', 'rotate-secret', 'api1', '--overlap', '7d')
    const texts = [await run('scopes', 'show', 'api1'), await run('scopes', 'list'), await run('audit')].map(
      (ended) => ended.out,
    )
    const all = [...texts, JSON.stringify(await json('audit'))].join('\n')
    for (const hidden of [secret, next, sha256Of(secret), sha256Of(next)]) expect(all).not.toContain(hidden)
    expect((await json('audit')).map(({ action }: { action: string }) => action)).toContain('scope_secret_rotated')
  })

  test('let a client in the storage have a scope in the storage, which then is not removed without --force', async () => {
    const { run } = newService()
    const add = ['clients', 'add', 'batch', '--grant', 'client_credentials', '--scope', 'api1']
    expect((await run(...add)).err).toContain('has the scope api1, which is not declared')
    await run('scopes', 'add', 'api1')
    expect((await run(...add)).code).toBe(0)
    const refused = await run('scopes', 'remove', 'api1')
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('belongs to clients (batch)') })
    expect((await run('scopes', 'remove', 'api1', '--force')).code).toBe(0)
  })

  test('a client in the configuration can have a scope in the storage, which then is not removed', async () => {
    const { run, configure } = newService()
    await run('scopes', 'add', 'api1')
    const client = { clientId: 'web', public: true, grantTypes: [], scopes: ['api1'] }
    configure({ clients: [client] })
    expect((await run('keys', 'list')).code).toBe(0)
    const refused = await run('scopes', 'remove', 'api1', '--force')
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('clients in the configuration (web)') })
    configure({ clients: [{ ...client, scopes: ['api2'] }] })
    expect((await run('keys', 'list')).err).toContain('has the scope api2, which is not declared in scopes')
  })

  test('a server does not start with a scope in the configuration and in the storage', async () => {
    const { run, configure } = newService()
    await run('scopes', 'add', 'api1')
    configure({ scopes: [{ name: 'api1' }] })
    expect((await run('keys', 'list')).err).toContain(
      'scopes: the scope api1 is in the storage, too; remove it here, or there with grantry scopes remove',
    )
  })

  test.each([
    [['add', 'configured'], 'scopes has a scope configured already; edit it there'],
    [['add', 'profile'], 'profile is an identity scope of OpenID Connect; set identity: true'],
    [['add', 'api2', '--claim', 'exp'], 'has the claim exp, which is reserved for the protocol'],
    [['add', 'two words'], 'must be a scope name'],
    [['add', `x${'/'.repeat(40)}`], 'must be 1 to 100 printable ASCII characters'],
    [['add', 'api2', '--set', 'secret="x"'], 'secret'],
    [['add', 'api1'], 'there is a scope api1 already'],
    [['edit', 'api1'], 'nothing to change'],
    [['edit', 'api1', '--set', 'name="api3"'], 'the name of the scope api1 cannot change'],
    [['edit', 'api1', '--set', 'audience=1'], 'audience must be a string'],
    [['edit', 'api1', '--identity', '--if-version', 'x'], 'was changed meanwhile'],
    [['remove', 'api9'], 'there is no scope api9 in the storage'],
    [['rotate-secret', 'api1', '--overlap', '7'], 'It must be a number and s, m, h or d'],
  ])('refuse %j, and change nothing', async (line, message) => {
    const { run, json } = newService({ scopes: [{ name: 'configured' }] })
    await run('scopes', 'add', 'api1')
    const before = await json('scopes', 'list')
    const { code, err } = await run('scopes', ...line)
    expect(code).not.toBe(0)
    expect(err).toContain(message)
    expect(await json('scopes', 'list')).toEqual(before)
    expect(await json('audit')).toHaveLength(1)
  })
})

describe('grantry check', () => {
  const idsOf = (findings: readonly { id: string; where: string }[]) =>
    findings.filter(({ id }) => id.endsWith('-invalid')).map(({ id, where }) => [id, where])

  test('knows the scopes in the storage, which clients of the configuration can have', async () => {
    const { run, configure } = newService()
    await run('scopes', 'add', 'api1')
    configure({ clients: [{ clientId: 'web', public: true, scopes: ['api1'] }] })
    expect(idsOf(JSON.parse((await run('check', '--json')).out).findings)).toEqual([])
  })

  test('finds clients in the storage that the configuration no longer allows', async () => {
    const { run, configure } = newService({ scopes: [{ name: 'api1' }] })
    await run('clients', 'add', 'batch', '--grant', 'client_credentials', '--scope', 'api1')
    await run('clients', 'add', 'twice', '--grant', 'client_credentials')
    expect(idsOf(JSON.parse((await run('check', '--json')).out).findings)).toEqual([])
    configure({ scopes: [], clients: [{ clientId: 'twice', public: true }] })
    const { out, code } = await run('check', '--json')
    expect(code).toBe(1)
    expect(idsOf(JSON.parse(out).findings)).toEqual([
      ['stored-entry-invalid', 'storage: client batch'],
      ['stored-entry-invalid', 'storage: client twice'],
    ])
  })
})
