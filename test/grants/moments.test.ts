// A duration instead of an epoch time, or milliseconds instead of seconds, are mistakes that every plugin author makes
// once. With them a single-use credential would work twice, or a login would lie in the future. They are errors that
// show immediately.
import { type GrantKit, type GrantResult, OAuthError, type Subject } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider, mapDriver, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, fixture, web } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:moment'
const form = { grant_type: grantType, scope: 'api1' }

function start(handle: (kit: GrantKit) => Partial<GrantResult> | Promise<Partial<GrantResult>>) {
  const items = new Map<string, string>()
  const grant = testGrant({
    grantType,
    async handle({ scopes }, kit) {
      const result: GrantResult = { scopes, ...(await handle(kit)) }
      return result
    },
  })
  return createTestProvider({ plugins: grant, storage: mapDriver(items) }).then((f) => ({ ...f, items }))
}

const now = 1_800_000_000
const wrong: readonly [string, number][] = [
  ['a duration', 60],
  ['nothing', undefined as never],
  ['not a number', Number.NaN],
  ['without end', Number.POSITIVE_INFINITY],
  ['a minute ago', now - 60],
  ['eleven years ahead', now + 11 * 365 * 86_400],
  ['in milliseconds', (now + 60) * 1000],
  ['a text', `${now + 60}` as never],
]

const uses: readonly [string, (kit: GrantKit, expiresAt: number) => Promise<Partial<GrantResult>>][] = [
  ['redemption', async (kit, expiresAt) => ({ redeems: [kit.redemption('ticket', expiresAt)] })],
  ['records.put', (kit, expiresAt) => kit.records.put('key', 1, expiresAt).then(() => ({}))],
  ['records.insert', (kit, expiresAt) => kit.records.insert('key', 1, expiresAt).then(() => ({}))],
]

describe.each(uses)('kit.%s', (_, use) => {
  test.each(wrong)('rejects an end that is %s as a mistake of the plugin', async (_what, expiresAt) => {
    const f = await start((kit) => use(kit, expiresAt))
    const { status, body, failure } = await f.post('token', form, testClient)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
    expect(failure).toBeInstanceOf(TypeError)
    expect(String(failure)).toContain('expiresAt')
    expect(f.events.map(({ type }) => type)).not.toContain('token_issued')
    expect([...f.items.keys()]).toEqual([])
  })

  // Time passes while a plugin works: what it read as valid a moment ago can have ended.
  test.each([60, 1, 0, -1, -59])('accepts an end %d seconds from now', async (seconds) => {
    const f = await start((kit) => use(kit, kit.now() + seconds))
    expect((await f.post('token', form, testClient)).status).toBe(200)
  })
})

test('a redemption is rejected until its end and is forgotten after it', async () => {
  const { post, clock } = await createTestProvider({
    plugins: testGrant({
      grantType,
      handle: ({ scopes }, kit) => ({ scopes, redeems: [kit.redemption('ticket', kit.now() + 60)] }),
    }),
  })
  expect((await post('token', form, testClient)).status).toBe(200)
  clock.advance(59)
  expect(await post('token', form, testClient)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  clock.advance(2)
  expect((await post('token', form, testClient)).status).toBe(200)
})

test.each(['redemption', 'record'])(
  'a %s whose end has just passed is still used by one of twenty requests',
  async (what) => {
    const { post } = await createTestProvider({
      storage: withLatency(memoryDriver()),
      plugins: testGrant({
        grantType,
        async handle({ scopes }, kit) {
          const end = kit.now() - 1
          if (what === 'redemption') return { scopes, redeems: [kit.redemption('ticket', end)] }
          if (await kit.records.insert('ticket', true, end)) return { scopes }
          throw new OAuthError('invalid_grant', 'The ticket is used', { reason: 'plugin:moment:used' })
        },
      }),
    })
    const all = await Promise.all(Array.from({ length: 20 }, () => post('token', form, testClient)))
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)])
  },
)

describe('the time of an authentication', () => {
  const subject = (authTime: number): Subject => ({ sub: '1', amr: ['x'], authTime })

  test('in milliseconds is a mistake of the grant', async () => {
    const f = await start(() => ({ subject: subject(now * 1000) }))
    const { status, body, failure } = await f.post('token', form, testClient)
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
    expect(failure).toBeInstanceOf(TypeError)
    expect(f.events.map(({ type }) => type)).not.toContain('token_issued')
    expect([...f.items.keys()].filter((key) => !key.startsWith('revision:'))).toEqual([])
  })

  test('in milliseconds is a mistake of the user service', async () => {
    const f = await fixture({ plugins: builtInPlugins, users: { authenticate: () => subject(Date.now()) } })
    const login = { grant_type: 'password', username: 'alice', password: 'x', scope: 'api1' }
    const { status, failure } = await f.post('token', login, web)
    expect(status).toBe(500)
    expect(failure).toBeInstanceOf(TypeError)
  })

  test('in milliseconds creates no code', async () => {
    const f = await fixture()
    await expect(f.code({ subject: subject(now * 1000) })).rejects.toThrow(TypeError)
    expect(f.events.map(({ type }) => type)).not.toContain('code_issued')
  })

  test('in seconds is accepted: now, long ago, and a little ahead', async () => {
    for (const authTime of [now, 0, now + 3600]) {
      const f = await start(() => ({ subject: subject(authTime) }))
      expect((await f.post('token', form, testClient)).status).toBe(200)
      expect(await (await fixture()).code({ subject: subject(authTime) })).toEqual(expect.any(String))
    }
  })
})
