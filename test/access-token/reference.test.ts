// Attack: a copy of the store leaks (a backup, a dump). No credential in it may be usable.
import { createHash } from 'node:crypto'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Everything in the store, as text. */
const contents = (items: Map<string, string>) => [...items].flat().join('\n')

/** The keys of all records but the revision, which exists once. */
const tokenKeys = (items: Map<string, string>) => [...items.keys()].filter((key) => !key.startsWith('revision:'))

async function stored() {
  const items = new Map<string, string>()
  return { items, f: await fixture({ storage: mapDriver(items) }) }
}

const clientToken = async (f: Fixture, as = web): Promise<string> =>
  (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, as)).body.access_token

describe('a reference token', () => {
  test('3.55 is opaque: at least 256 bits, no dot', async () => {
    const f = await fixture()
    const tokens = new Set<string>()
    for (let count = 0; count < 50; count += 1) tokens.add(await clientToken(f))
    expect(tokens.size).toBe(50)
    for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{43,512}$/u)
  })

  test('3.55 is stored under its SHA-256 only', async () => {
    const { f, items } = await stored()
    const token = await clientToken(f)
    expect(tokenKeys(items)).toEqual([`access:${sha256(token)}`])
    expect(contents(items)).not.toContain(token)
    expect(contents(items)).not.toContain(Buffer.from(token).toString('base64url'))
  })

  test('3.55 is not the key of its record', async () => {
    const { f, items } = await stored()
    await clientToken(f)
    for (const key of items.keys()) {
      for (const token of [key, key.slice(key.indexOf(':') + 1)]) {
        expect((await f.post('introspection', { token }, api1)).body).toEqual({ active: false })
      }
    }
  })

  test('3.56 the format is a client setting', async () => {
    const { f, items } = await stored()
    expect(await clientToken(f, webJwt)).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/u)
    // A self-contained token needs no record.
    expect(tokenKeys(items)).toHaveLength(0)
    expect(await clientToken(f, web)).not.toContain('.')
    expect(tokenKeys(items)).toHaveLength(1)
  })

  test('3.55 has the same claims as a JWT', async () => {
    const f = await fixture()
    const claims = async (as: typeof web) => {
      const { body } = await f.post('introspection', { token: await clientToken(f, as) }, api1)
      return { ...body, client_id: 'x', jti: 'x' }
    }
    expect(await claims(web)).toEqual(await claims(webJwt))
    expect(await claims(web)).toMatchObject({ iss: 'https://id.example.com', aud: 'https://api1.example.com' })
  })

  test('3.58 has a lifetime of 3600 seconds', async () => {
    const f = await fixture()
    const token = await clientToken(f)
    f.clock.advance(3599)
    expect((await f.post('introspection', { token }, api1)).body.active).toBe(true)
    f.clock.advance(1)
    expect((await f.post('introspection', { token }, api1)).body).toEqual({ active: false })
  })
})

describe('the store', () => {
  test('holds no code, no refresh token, no access token and no identity token, spent or not', async () => {
    const { f, items } = await stored()
    const code = await f.code()
    const redeem = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const first = (await f.post('token', redeem, web)).body
    const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
    const second = (await f.post('token', refresh, web)).body
    // What a retry needs is stored.
    expect([...items.keys()].some((key) => key.startsWith('replay:'))).toBe(true)
    const secrets = [code, ...[first, second].flatMap((body) => [body.access_token, body.refresh_token, body.id_token])]
    expect(new Set(secrets).size).toBe(7)
    for (const secret of secrets) expect(contents(items)).not.toContain(secret)
    for (const key of items.keys()) expect(key).toMatch(/^[a-z:]+:[0-9a-f]{64}$/u)
  })

  test('the record for a retry of one token does not serve another', async () => {
    const { f, items } = await stored()
    const start = async () => {
      const redeem = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
      return (await f.post('token', redeem, web)).body.refresh_token as string
    }
    const refresh = (token: string) => f.post('token', { grant_type: 'refresh_token', refresh_token: token }, web)
    const [mine, hers] = [await start(), await start()]
    await refresh(hers)
    // An attacker who can write to the store points the marker of one token at the retry record of the other.
    const markers = [...items].filter(([key]) => key.startsWith('spent:'))
    await refresh(mine)
    const newKeys = [...items.keys()].filter(
      (key) => key.startsWith('spent:') && !markers.some(([known]) => known === key),
    )
    const hersMarker = markers.at(-1)?.[1] ?? ''
    expect(newKeys).toHaveLength(1)
    for (const key of newKeys) items.set(key, hersMarker)
    const { status, body } = await refresh(mine)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
  })
})
