/**
 * Attack: an attacker can write to the store (a shared Redis, a restored backup, a torn write) and plants records of
 * another kind under a key, truncates markers, or swaps them, to redeem twice, to restore revoked tokens, or to take
 * down the service.
 *
 * No RFC: hardening. A record of another kind counts as absent; a marker that forbids counts as present, whatever is
 * left of it.
 */

import { createHash } from 'node:crypto'
import type { AtomicDriver } from '@grantry/core'
import { type MemoryDriver, memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const redeem = (f: Fixture, code: string) =>
  f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)
const refresh = (f: Fixture, refresh_token: string) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token }, web)
const introspect = async (f: Fixture, token: string) => (await f.post('introspection', { token }, api1)).body.active
const rejected = (f: Fixture) => f.events.flatMap((event) => (event.type === 'record_rejected' ? [event.kind] : []))
const refused = { status: 400, body: { error: 'invalid_grant' } }

interface Setting {
  readonly f: Fixture
  readonly storage: MemoryDriver
  write(key: string, value: unknown): Promise<void>
  raw(key: string): string
  keys(kind: string): string[]
}
async function setting(): Promise<Setting> {
  const storage = memoryDriver()
  return {
    storage,
    f: await fixture({ storage }),
    write: async (key, value) => storage.setItem?.(key, value as string, { ttl: 3600 }),
    raw: (key) => String(storage.getItem(key)),
    keys: (kind) => [...(storage.getInstance?.().keys() ?? [])].filter((key) => key.startsWith(`${kind}:`)),
  }
}

const torn: readonly [string, (good: string) => unknown][] = [
  ['truncated in the middle', (good) => good.slice(0, good.length / 2)],
  ['truncated by a character', (good) => good.slice(0, -1)],
  ['empty', () => ''],
  ['text that is not JSON', () => 'undefined'],
  ['NUL bytes', () => '\0'.repeat(64)],
  ['JSON null', () => 'null'],
  ['a JSON number', () => '1'],
  ['a JSON array', () => '[]'],
  ['an empty object', () => '{}'],
  ['another version', (good) => good.replace('"version":1', '"version":2')],
  ['an expiry as a string', (good) => good.replace(/"expiresAt":(\d+)/u, '"expiresAt":"$1"')],
  ['a value of another shape', (good) => good.replace(/"value":.*$/u, '"value":{"x":1}}')],
  ['a value that is an array', (good) => good.replace(/"value":.*$/u, '"value":[]}')],
  ['not a string', () => 42],
  ['deep nesting', () => '['.repeat(50_000)],
]

describe.each(torn)('a record that is %s', (_, tear) => {
  test('is not a code', async () => {
    const { f, write, raw } = await setting()
    const code = await f.code()
    const key = `code:${sha256(code)}`
    await write(key, tear(raw(key)))
    expect(await redeem(f, code)).toMatchObject(refused)
    expect(rejected(f)).toEqual(['code'])
  })

  test('is neither a refresh token nor an access token', async () => {
    const { f, write, raw } = await setting()
    const { body } = await redeem(f, await f.code())
    for (const [kind, token] of [
      ['refresh', body.refresh_token],
      ['access', body.access_token],
    ]) {
      await write(`${kind}:${sha256(token)}`, tear(raw(`${kind}:${sha256(token)}`)))
    }
    expect(await refresh(f, body.refresh_token)).toMatchObject(refused)
    expect(await introspect(f, body.access_token)).toBe(false)
    expect(rejected(f)).toEqual(['refresh', 'access'])
  })

  test('as the marker of a spent code does not allow a second redemption', async () => {
    const { f, write, raw } = await setting()
    const code = await f.code()
    const first = await redeem(f, code)
    const key = `spent:code:${sha256(code)}`
    await write(key, tear(raw(key)))
    expect(await redeem(f, code)).toMatchObject(refused)
    expect(await introspect(f, first.body.access_token)).toBe(false)
  })

  test('as the marker of a spent refresh token does not allow a second branch', async () => {
    const { f, write, raw } = await setting()
    const { body } = await redeem(f, await f.code())
    const next = await refresh(f, body.refresh_token)
    const key = `spent:refresh:${sha256(body.refresh_token)}`
    await write(key, tear(raw(key)))
    expect(await refresh(f, body.refresh_token)).toMatchObject(refused)
    expect(await refresh(f, next.body.refresh_token)).toMatchObject(refused)
  })

  test('as the mark of a revoked family counts as revoked', async () => {
    const { f, write, raw, keys } = await setting()
    const code = await f.code()
    const { body } = await redeem(f, code)
    await redeem(f, code)
    const [key = ''] = keys('revoked')
    await write(key, tear(raw(key)))
    expect(await introspect(f, body.access_token)).toBe(false)
    expect(await refresh(f, body.refresh_token)).toMatchObject(refused)
  })

  test('as the stored response for a retry is a replay', async () => {
    const { f, write, raw, keys } = await setting()
    const { body } = await redeem(f, await f.code())
    await refresh(f, body.refresh_token)
    const [key = ''] = keys('replay')
    await write(key, tear(raw(key)))
    expect(await refresh(f, body.refresh_token)).toMatchObject(refused)
  })
})

describe('a valid record under the key of another kind', () => {
  const kinds = ['code', 'refresh', 'access', 'spent:code', 'spent:refresh'] as const

  /** Every record of one whole lifecycle, by its kind. */
  async function lived(): Promise<Setting & { records: Record<string, string> }> {
    const s = await setting()
    const code = await s.f.code()
    const { body } = await redeem(s.f, code)
    const next = await refresh(s.f, body.refresh_token)
    const hash = { code, refresh: next.body.refresh_token, access: next.body.access_token }
    const records = Object.fromEntries([
      ...Object.entries(hash).map(([kind, token]) => [kind, s.raw(`${kind}:${sha256(token)}`)]),
      ['spent:code', s.raw(`spent:code:${sha256(code)}`)],
      ['spent:refresh', s.raw(`spent:refresh:${sha256(body.refresh_token)}`)],
    ])
    return { ...s, records }
  }

  const planted = (target: string) => kinds.filter((kind) => kind !== target)

  test.each(planted('code'))('%s is not a code', async (kind) => {
    const { f, write, records } = await lived()
    await write(`code:${sha256('planted')}`, records[kind])
    expect(await redeem(f, 'planted')).toMatchObject(refused)
  })

  test.each(planted('refresh'))('%s is not a refresh token', async (kind) => {
    const { f, write, records } = await lived()
    await write(`refresh:${sha256('planted')}`, records[kind])
    expect(await refresh(f, 'planted')).toMatchObject(refused)
  })

  test.each(planted('access'))('%s is not an access token', async (kind) => {
    const { f, write, records } = await lived()
    await write(`access:${sha256('planted')}`, records[kind])
    expect(await introspect(f, 'planted')).toBe(false)
  })

  test('the same records under their own kind are accepted: the tests above fail because of the kind', async () => {
    const { f, write, records } = await lived()
    for (const kind of ['refresh', 'access']) await write(`${kind}:${sha256('planted')}`, records[kind])
    expect(await introspect(f, 'planted')).toBe(true)
    expect((await refresh(f, 'planted')).status).toBe(200)
  })
})

describe('a record with contents that the provider never writes', () => {
  const claims = { iss: 'https://id.example.com', aud: 'https://api1.example.com', client_id: web[0], scope: 'api1' }
  const plant = async (change: object) => {
    const s = await setting()
    const value = { claims: { ...claims, exp: s.f.clock.now() + 60, ...change } }
    await s.write(`access:${sha256('planted')}`, JSON.stringify({ version: 1, expiresAt: s.f.clock.now() + 60, value }))
    return introspect(s.f, 'planted')
  }

  test.each<[string, object]>([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'https://evil.example' }],
    ['an unknown client', { client_id: 'absent' }],
    ['a property name of the prototype as client', { client_id: '__proto__' }],
    ['an unknown user', { sub: 'absent' }],
    ['scopes in an array', { scope: ['api1'] }],
    ['no end', { exp: undefined }],
    ['an end that is a string', { exp: 'never' }],
  ])('%s is inactive', async (_, change) => {
    expect(await plant({})).toBe(true)
    expect(await plant(change)).toBe(false)
  })
})

test.each<[string, Partial<AtomicDriver>]>([
  ['an Error that is returned', { getItem: () => new Error('hunter2') }],
  [
    'an Error that is thrown',
    {
      getItem: () => {
        throw new Error('hunter2')
      },
    },
  ],
  ['a rejection', { getItem: () => Promise.reject(new Error('hunter2')) }],
])('%s by the driver is an outage of the store and is not shown', async (_, broken) => {
  const driver = memoryDriver()
  let isBroken = false
  const storage: AtomicDriver = {
    ...driver,
    getItem: (key) => (isBroken ? broken.getItem?.(key) : driver.getItem(key)),
  }
  const f = await fixture({ storage })
  isBroken = true
  const { status, body, headers } = await f.post('token', { grant_type: 'refresh_token', refresh_token: 'x' }, web)
  expect(status).toBe(503)
  expect(body).toEqual({
    error: 'temporarily_unavailable',
    error_description: 'The service is temporarily unavailable',
  })
  expect(headers.has('retry-after')).toBe(true)
})
