// The signing keys over the admin API: what the rules for rotations demand, and what becomes of the tokens of a key.
import { storedKeys } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { api1, webJwt } from '../support/fixture.ts'
import { setting } from './setting.ts'

interface Key {
  readonly kid: string
  readonly state: string
}

/** An administrator with reference tokens, which no key signs, and a client with tokens that are JWTs. */
async function service() {
  const f = await setting({ keys: storedKeys({ algorithms: ['ES256'] }) })
  const token = async (): Promise<string> => {
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    return (await f.post('token', form, webJwt)).body.access_token
  }
  const isActive = async (token: string): Promise<boolean> =>
    (await f.post('introspection', { token }, api1)).body.active
  const list = async (): Promise<readonly Key[]> => (await f.send('GET', '/keys')).body.items
  const kidIn = async (state: string): Promise<string> =>
    (await list()).find((key) => key.state === state)?.kid ?? `no key is ${state}`
  const published = async (): Promise<readonly string[]> => (await f.get('jwks')).body.keys.map(({ kid }: Key) => kid)
  const retire = (kid: string, body: object = {}) => f.send('POST', `/keys/${kid}/retire`, { body })
  return { ...f, token, isActive, list, kidIn, published, retire }
}

const kidOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString()).kid

describe('the key that signs', () => {
  test('cannot be retired before caches know the next one, and leaves no record', async () => {
    const { kidIn, retire, list, trail } = await service()
    const before = await list()
    const { status, body } = await retire(await kidIn('current'))
    expect([status, body.detail]).toEqual([409, expect.stringContaining('the next key was published too recently')])
    expect(await list()).toEqual(before)
    expect(await trail()).toEqual([])
  })

  test('is retired afterwards: the next one signs, and the tokens of both are valid', async () => {
    const { kidIn, retire, token, isActive, clock, trail } = await service()
    const [first, next] = [await kidIn('current'), await kidIn('next')]
    clock.advance(360)
    const old = await token()
    expect(kidOf(old)).toBe(first)
    const { status, body } = await retire(first)
    expect(status).toBe(200)
    const states = Object.fromEntries(body.items.map(({ kid, state }: Key) => [kid, state]))
    expect(states).toMatchObject({ [first]: 'retiring', [next]: 'current' })
    const young = await token()
    expect(kidOf(young)).toBe(next)
    expect([await isActive(old), await isActive(young)]).toEqual([true, true])
    expect((await trail())[0]).toMatchObject({ action: 'key_retired', id: first, outcome: 'done' })
  })
})

describe('a key that was rotated', () => {
  /** A token of the key that signed before the rotation. */
  async function rotated() {
    const f = await service()
    const kid = await f.kidIn('current')
    const old = await f.token()
    expect((await f.send('POST', '/keys/rotate', { body: {} })).status).toBe(409)
    f.clock.advance(360)
    expect((await f.send('POST', '/keys/rotate', { body: {} })).status).toBe(200)
    expect(await f.kidIn('retiring')).toBe(kid)
    return { ...f, kid, old }
  }

  test('verifies as long as its tokens are valid, and is removed then', async () => {
    const { retire, kid, old, isActive, published, send, tokenOf, clock } = await rotated()
    expect((await retire(kid)).status).toBe(200)
    expect([await isActive(old), (await published()).includes(kid)]).toEqual([true, true])
    const { keptUntil } = (await send('GET', '/keys')).body.items.find((key: Key) => key.kid === kid)
    clock.advance(keptUntil - clock.now() + 1)
    const { body } = await send('GET', '/keys', { token: await tokenOf('ops', 'admin:read') })
    expect(body.items.map((key: Key) => key.kid)).not.toContain(kid)
  })

  test('is gone immediately if it is compromised: its tokens fail, and those of others do not', async () => {
    const { retire, kid, old, isActive, published, list, token } = await rotated()
    const young = await token()
    expect((await retire(kid, { compromised: true })).status).toBe(200)
    expect((await list()).map((key) => key.kid)).not.toContain(kid)
    expect([await isActive(old), await isActive(young)]).toEqual([false, true])
    expect(await published()).not.toContain(kid)
    expect((await retire(kid, { compromised: true })).status).toBe(404)
  })
})

test('there is always a key that signs, also if every key is compromised', async () => {
  const { list, retire, token, isActive } = await service()
  const compromised = await list()
  for (const { kid } of compromised) expect((await retire(kid, { compromised: true })).status).toBe(200)
  const left = (await list()).map(({ kid }) => kid)
  expect(left).toHaveLength(2)
  for (const { kid } of compromised) expect(left).not.toContain(kid)
  expect(await isActive(await token())).toBe(true)
})

test('the last key of a configuration cannot be retired', async () => {
  const { send, trail } = await setting()
  const [{ kid }] = (await send('GET', '/keys')).body.items
  for (const path of [`/keys/${kid}/retire`, '/keys/rotate']) {
    const { status, body } = await send('POST', path, { body: { force: true } })
    expect([status, body.detail]).toEqual([409, expect.stringContaining('set in the configuration')])
  }
  expect(await trail()).toEqual([])
})
