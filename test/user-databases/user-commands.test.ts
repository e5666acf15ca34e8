// Users in a table or in a directory, by command: a name is resolved, and what no part of the configuration knows is refused.
// An answer such as "Removed the second factors of nosuch" hides that the account of an attacker still works.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of } from '@grantry/testing'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { printed } from '../server/printed.ts'
import { describeWithLdap, type LdapServer, ldapServers } from '../support/ldap-server.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { newDirectory } from '../support/server-program.ts'
import { createHttpBrowser, signInOverHttp } from '../support/sign-in.ts'
import { password } from '../users/hash-vectors.ts'
import { openSqlite } from './databases.ts'
import { directoryLdif, mapping as ldapMapping } from './directory.ts'
import { accountsScript, mapping as sqlMapping } from './users-table.ts'

const redirect_uri = 'https://client.example.com/callback'
const client = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  scopes: ['openid'],
  grantTypes: ['authorization_code'],
  redirectUris: [redirect_uri],
}
const signInPlugin = { name: 'sign-in', account: {}, secondFactors: { encryptionSecrets: ['s'.repeat(40)] } }

function configured(users: object, issuer = 'http://127.0.0.1:8484'): string {
  const path = join(newDirectory(), 'grantry.config.json')
  const storage = { driver: 'filesystem', directory: './data', fsync: false }
  const setting = { issuer, storage, administration: true, users, clients: [client], plugins: [signInPlugin] }
  writeFileSync(path, JSON.stringify(setting), { mode: 0o600 })
  return path
}

const commands = [
  ['users', 'second-factors', 'reset', 'USER'],
  ['users', 'sessions', 'list', 'USER'],
  ['users', 'sessions', 'end', 'USER'],
  ['users', 'sessions', 'end', 'USER', 'a-sid'],
  ['users', 'consents', 'list', 'USER'],
  ['users', 'consents', 'revoke', 'USER', 'web'],
  ['users', 'authorizations', 'list', 'USER'],
  ['users', 'authorizations', 'end', 'USER', 'a-family'],
  ['users', 'show', 'USER'],
]

interface Expected {
  /** Resolves to a `sub`. */
  readonly known: readonly (readonly [given: string, sub: string])[]
  readonly ambiguous?: string
}

/** The tests of each database. */
function defineCommands(users: () => object, { known, ambiguous }: Expected): void {
  test.each(commands)('refuse what it does not know: %s %s %s', async (...line) => {
    const path = configured(users())
    for (const text of ['nosuch-xyz', 'a*', '', '\u0000', 'x'.repeat(2000)]) {
      const named = line.map((part) => (part === 'USER' ? text : part))
      const { code, out, err } = await printed(...named, '--config', path)
      expect({ text, code, out }).toEqual({ text, code: 1, out: '' })
      expect(err).toContain('no user with the sub or the name')
    }
    const { out } = await printed('audit', '--json', '--config', path)
    expect(JSON.parse(out)).toEqual([])
  })

  test.each(known)('resolve %s', async (name, sub) => {
    const path = configured(users())
    const reset = await printed('users', 'second-factors', 'reset', name, '--config', path)
    expect(reset).toMatchObject({ code: 0, err: '' })
    expect(reset.out).toContain(`user ${sub}`)
    expect(reset.out).toContain(': 0 apps, 0 recovery codes. Ended 0 sessions,')
    const shown = await printed('users', 'show', name, '--json', '--config', path)
    expect(JSON.parse(shown.out)).toMatchObject({ sub, from: 'service' })
    const { out } = await printed('audit', '--json', '--config', path)
    expect(JSON.parse(out)).toMatchObject([{ action: 'user_second_factors_reset', id: sub, outcome: 'done' }])
    expect(await printed('revoke', '--subject', name, '--config', path)).toMatchObject({
      code: 0,
      out: expect.stringMatching(new RegExp(`^Revoked everything issued so far to the subject ${sub}\\b`, 'u')),
    })
  })

  test('grantry revoke refuses an unknown user for the future, and does not claim success', async () => {
    expect(await printed('revoke', '--subject', 'nosuch-xyz', '--config', configured(users()))).toEqual({
      code: 1,
      err: '',
      out:
        'Nothing was found to revoke: users: there is no user with the sub or the name nosuch-xyz; check the spelling.\n' +
        'If anything was ever issued to nosuch-xyz, it is refused from now on.\n',
    })
  })

  test('grantry revoke of a user at a client resolves the name, and claims success for a known user and client only', async () => {
    const [name = '', sub = ''] = known[0] ?? []
    const path = configured(users())
    const revoke = (subject: string, clientId: string) =>
      printed('revoke', '--subject', subject, '--client', clientId, '--config', path)
    const done = await revoke(name, 'web')
    expect([done.code, done.err]).toEqual([0, ''])
    expect(done.out).toMatch(new RegExp(`^Revoked all access that the subject ${sub}\\b`, 'u'))
    expect(done.out).toContain(
      ' has given to the client web so far: 0 authorizations, 0 consents, and tokens that no list',
    )
    for (const [subject, clientId, problem] of [
      ['nosuch-xyz', 'web', 'users: there is no user with the sub or the name nosuch-xyz; check the spelling'],
      [sub, 'wbe', 'no client wbe is configured; check the spelling'],
    ] as const) {
      const out = `Nothing was found to revoke: ${problem}.\nIf anything was ever issued to ${subject} at ${clientId}, it is refused from now on.\n`
      expect(await revoke(subject, clientId)).toEqual({ code: 1, err: '', out })
    }
  })

  if (ambiguous === undefined) return
  test('refuse a name that several users have', async () => {
    for (const line of [
      ['users', 'sessions', 'end', ambiguous],
      ['revoke', '--subject', ambiguous],
      ['revoke', '--subject', ambiguous, '--client', 'web'],
    ]) {
      const { code, err } = await printed(...line, '--config', configured(users()))
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`several users have the name ${ambiguous}; pass the sub: `),
      ])
    }
  })
}

describe('users in a table', () => {
  const database = openSqlite()
  const users = { driver: 'sql', ...sqlMapping, ...database.where }
  beforeAll(async () => {
    for (const statement of accountsScript(false)) await database.run(statement)
  })
  defineCommands(() => users, {
    known: [
      ['Alice', 'a-1'],
      ['aLICE', 'a-1'],
      ['a-1', 'a-1'],
      // Not active: what was issued before can still be ended.
      ['carol', 'c-3'],
      ['c-3', 'c-3'],
    ],
  })

  test('who are signed in are signed out by their name, and the answer counts it', async () => {
    const port = await reservedPort()
    const issuer = `http://127.0.0.1:${port}`
    const path = configured(users, issuer)
    const server = await startServer({ loaded: await loadConfiguration(path, {}), port, observe: () => {} })
    onTestFinished(() => server.close(0))
    await signInOverHttp(
      issuer,
      { client_id: 'web', redirect_uri, scope: 'openid' },
      ['alice', password],
      createHttpBrowser(),
    )
    const { out } = await printed('users', 'second-factors', 'reset', 'alice', '--config', path)
    expect(out).toBe(
      'Removed of the user a-1 (Alice): 0 apps, 0 recovery codes. Ended 1 session, and revoked all tokens.\n',
    )
    expect(JSON.parse((await printed('users', 'sessions', 'list', 'a-1', '--json', '--config', path)).out)).toEqual([])
  })

  test('who were removed while they were signed in can still be signed out by the sub', async () => {
    const port = await reservedPort()
    const issuer = `http://127.0.0.1:${port}`
    const path = configured(users, issuer)
    const server = await startServer({ loaded: await loadConfiguration(path, {}), port, observe: () => {} })
    onTestFinished(() => server.close(0))
    await signInOverHttp(
      issuer,
      { client_id: 'web', redirect_uri, scope: 'openid' },
      ['bob', password],
      createHttpBrowser(),
    )
    await database.run(`DELETE FROM "the ""accounts""" WHERE id = 'b-2'`)
    const end = () => printed('users', 'sessions', 'end', 'b-2', '--config', path)
    expect(await end()).toMatchObject({ code: 0, out: expect.stringContaining('Ended 1 session of the user b-2.') })
    expect(await end()).toMatchObject({ code: 1, out: '' })
  })
})

describeWithLdap('users in a directory', () => {
  const start = ldapServers()
  let server: LdapServer
  beforeAll(async () => {
    server = await start(directoryLdif)
  })
  defineCommands(() => ({ driver: 'ldap', url: server.url, ...ldapMapping, active: 'userAccountControl' }), {
    known: [
      ['alice', '11111111-1111-4111-8111-111111111111'],
      ['alice@example.com', '11111111-1111-4111-8111-111111111111'],
      ['11111111-1111-4111-8111-111111111111', '11111111-1111-4111-8111-111111111111'],
      // Disabled.
      ['bob', '22222222-2222-4222-8222-222222222222'],
      ['odd*(name)\\', '66666666-6666-4666-8666-666666666666'],
    ],
    ambiguous: 'twin@example.com',
  })
})

describe('a user service of a module', () => {
  const written = (service: string): string => {
    const path = join(newDirectory(), 'grantry.config.mjs')
    const setting = {
      issuer: 'http://127.0.0.1:8484',
      administration: true,
      clients: [client],
      plugins: [signInPlugin],
    }
    const storage = { driver: 'filesystem', directory: './data', fsync: false }
    writeFileSync(
      path,
      `export default { ...${JSON.stringify({ ...setting, storage })}, users: { authenticate: () => undefined, ...${service} } }`,
    )
    return path
  }

  test.each([
    [`{ isActive: (sub) => sub === '1' }`, '1', 0],
    [`{ isActive: (sub) => sub === '1' }`, 'one', 1],
    [
      `{ isActive: (sub) => sub === '1', find: async (text) => text === 'one' ? [{ sub: '1', active: true }] : [] }`,
      'one',
      0,
    ],
    [`{ isActive: (sub) => sub === '1', find: async () => [] }`, '1', 1],
    // Without isActive(), every text can be a user.
    ['{}', 'two', 0],
  ])('%s: %s', async (service, text, code) => {
    expect((await printed('users', 'sessions', 'end', text, '--config', written(service))).code).toBe(code)
  })
})
