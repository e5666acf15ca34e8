/**
 * Attack: behind one address (a NAT, a gateway, a cluster), an attacker or a careless client lets others be locked out
 * with requests that guess nothing, as Go's x/oauth2 does, which tries `Authorization: Basic` without a secret first. And
 * the reverse: an attacker uses failures that are not counted to guess without a limit, or to learn which clients exist
 * and which secrets are right.
 *
 * RFC 6749 section 2.3.1 limits guesses at a secret. A request that no secret in the world could make right is no guess.
 */
import type { ProviderOptions } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { basic, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { assertionType, claims, createKey, key, sign } from '../client-assertion/assertions.ts'
import { api1, builtInPlugins, clients, type Fixture, fixture, spaClientId, web } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'

const home = '192.0.2.1'
const grant = { grant_type: 'client_credentials', scope: 'api1' }
const jwks = { keys: [key.jwk] }
const right = 'right+secret'
const common = { secrets: [{ sha256: sha256Of(right) }], grantTypes: ['client_credentials'], scopes: ['api1'] }
const more = [
  { ...common, clientId: 'post-only', tokenEndpointAuthMethod: 'client_secret_post' },
  { ...common, clientId: 'key-only', jwks, tokenEndpointAuthMethod: 'private_key_jwt' },
  { ...common, clientId: 'disabled', enabled: false, tokenEndpointAuthMethod: 'client_secret_post' },
  { ...common, clientId: 'a+b' },
  { clientId: 'a b', public: true, grantTypes: ['refresh_token'], scopes: ['api1'] },
  { clientId: 'disabled-public', public: true, enabled: false, grantTypes: ['refresh_token'], scopes: ['api1'] },
]
const plugins = [...builtInPlugins, clientAssertion()]
const setUp = (options: Partial<ProviderOptions> = {}) =>
  fixture({ abuseControl: true, plugins, clients: [...clients, ...more], ...options })

type Form = Readonly<Record<string, string>>
type Shape = readonly [what: string, form: Form, authorization?: string | undefined]
async function send(f: Fixture, [, form, authorization]: Shape, endpoint: 'token' | 'introspection' = 'token') {
  const request = new Request(`${f.provider.issuer}/${endpoint}`, {
    method: 'POST',
    body: new URLSearchParams({ ...grant, token: 'x', ...form }),
    ...(authorization !== undefined && { headers: { authorization } }),
  })
  return (await f.provider.handlers[endpoint](request, { clientAddress: home })).status
}
async function statusesOf(f: Fixture, count: number, shape: Shape, endpoint?: 'introspection'): Promise<number[]> {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) statuses.push(await send(f, shape, endpoint))
  return statuses
}
const named = (shapes: readonly Shape[]) => shapes.map((shape) => [shape[0], shape] as const)
const times = (count: number, status: number): number[] => Array(count).fill(status)

const header = (what: string, id: string, secret: string): Shape => [what, {}, basic([id, secret])]
const inForm = (what: string, client_id: string, client_secret: string): Shape => [what, { client_id, client_secret }]

const assertion = async (clientId: string, { privateKey } = key): Promise<Shape> => [
  'an assertion',
  { client_assertion: await sign(claims(clientId), privateKey), client_assertion_type: assertionType },
]

const noGuesses: readonly Shape[] = [
  header("Go's x/oauth2 with a public client", spaClientId, ''),
  header('an empty secret', web[0], ''),
  header('an empty secret of an unknown client', 'unknown', ''),
  header('a public client with a secret', spaClientId, 'secret'),
  inForm('a public client with a secret in the form', spaClientId, 'secret'),
  header("Go's x/oauth2, which encodes the secret, with a client for the form", 'post-only', 'right%2Bsecret'),
  header('the right secret by a refused method', 'post-only', right),
  ['no credentials', {}],
  ['a client_id alone', { client_id: web[0] }],
  ['a client_id alone that is unknown', { client_id: 'unknown' }],
  ['a client_id alone that is too long', { client_id: 'x'.repeat(101) }],
  ['another scheme', {}, 'Bearer abc'],
  ['a Negotiate header', { client_id: web[0] }, 'Negotiate abc'],
  ['a header that is not base64', {}, 'Basic %%%'],
  header('a secret that is too long', web[0], 'x'.repeat(513)),
  header('an id that is too long', 'x'.repeat(101), 'secret'),
]

describe('what no secret could make right is not counted', () => {
  test.each(named(noGuesses))('sixty times: %s', async (_, shape) => {
    const f = await setUp()
    expect(await statusesOf(f, 60, shape)).toEqual(times(60, 401))
    expect(await send(f, header('', ...web))).toBe(200)
    expect(await send(f, inForm('', 'post-only', right))).toBe(200)
    expect(f.events).not.toContainEqual(expect.objectContaining({ type: 'abuse_limited' }))
  })

  test("a cluster of Go's x/oauth2 clients gets in: each asks with the header first, then with the form", async () => {
    const f = await setUp()
    for (let process = 0; process < 60; process += 1) {
      expect(await send(f, header('', spaClientId, ''))).toBe(401)
      const form = { grant_type: 'refresh_token', refresh_token: 'x', client_id: spaClientId }
      expect(await send(f, ['', form])).toBe(400)
    }
  })

  test('fifty guesses at the address do not lock out clients that need no secret', async () => {
    const f = await setUp()
    for (let index = 0; index < 51; index += 1) await send(f, header('', `client ${index}`, 'guess'))
    expect(await send(f, header('', ...web))).toBe(429)
    const form = { grant_type: 'refresh_token', refresh_token: 'x', client_id: spaClientId }
    expect(await send(f, ['', form])).toBe(400)
    expect(await send(f, await assertion('key-only'))).toBe(200)
  })

  test('a secret of a public client costs the host no comparison, which could be slow', async () => {
    const compared: string[] = []
    const rows = new Map([...clients, ...more].map((client) => [client.clientId, client]))
    const f = await setUp({
      clients: {
        find: async (id) => rows.get(id),
        verifySecret: async (id) => {
          compared.push(id)
          return false
        },
      },
    })
    expect(await statusesOf(f, 60, header('', spaClientId, 'secret'))).toEqual(times(60, 401))
    expect(compared).toEqual([])
    for (const id of [web[0], 'unknown', 'disabled-public']) await send(f, header('', id, 'guess'))
    expect(compared).toEqual([web[0], 'unknown', 'disabled-public'])
  })

  test('forged assertions, and right ones while the keys of the client cannot be fetched', async () => {
    let isDown = true
    const fetch = async () => (isDown ? new Response('', { status: 503 }) : Response.json(jwks))
    const clientId = 'publishing'
    const f = await setUp({
      plugins: [...builtInPlugins, clientAssertion({ jwksUri: { fetch, cooldown: 1 } })],
      clients: [
        { clientId, jwksUri: 'https://client.example.com/jwks', grantTypes: ['client_credentials'], scopes: ['api1'] },
      ],
    })
    const strange = await createKey()
    for (let index = 0; index < 30; index += 1) {
      expect(await send(f, await assertion(clientId))).toBe(401)
      expect(await send(f, await assertion(clientId, strange))).toBe(401)
      expect(await send(f, await assertion('unknown', strange))).toBe(401)
    }
    isDown = false
    f.clock.advance(2)
    expect(await send(f, await assertion(clientId))).toBe(200)
  })
})

describe('guesses remain limited', () => {
  const guesses: readonly Shape[] = [
    header('a wrong secret', web[0], 'guess'),
    inForm('a wrong secret in the form', web[0], 'guess'),
    header('a wrong secret by a refused method', 'post-only', 'guess'),
    header('the right secret of a client that may use none', 'key-only', right),
    header('an unknown client', 'unknown', 'guess'),
    header('a disabled client with a wrong secret', 'disabled', 'guess'),
    header('a disabled client with its right secret by a refused method', 'disabled', right),
    inForm('a disabled client with its right secret', 'disabled', right),
    header('a disabled public client', 'disabled-public', 'guess'),
    header('an id whose other reading is a public client', 'a+b', 'guess'),
    header('a secret that is too long only as it is written', web[0], '%41'.repeat(200)),
  ]

  // The same count for all: otherwise it would reveal which clients exist, or that a secret is right.
  test.each(named(guesses))('to ten, for %s', async (_, shape) => {
    const f = await setUp()
    expect(await statusesOf(f, 12, shape)).toEqual([...times(10, 401), 429, 429])
  })

  test('requests that guess nothing do not reset the count', async () => {
    const f = await setUp()
    const statuses: number[] = []
    for (let index = 0; index < 12; index += 1) {
      statuses.push(await send(f, header('', 'post-only', `guess ${index}`)))
      await send(f, header('', 'post-only', ''))
      await send(f, header('', 'post-only', right))
    }
    expect(statuses).toEqual([...times(10, 401), 429, 429])
    expect(await send(f, header('', 'post-only', right))).toBe(429)
  })

  test('concurrently, the right secret by a refused method is not distinguishable', async () => {
    const f = await setUp({ storage: withLatency(memoryDriver()) })
    const secrets = [...Array.from({ length: 60 }, (_, index) => `guess ${index}`), right]
    const statuses = await Promise.all(secrets.map((secret) => send(f, header('', 'post-only', secret))))
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.at(-1)).toBe(429)
  })
})

describe('the secret of a scope', () => {
  test.each(
    named([
      header('an empty secret', api1[0], ''),
      ['no credentials', {}],
      ['the name alone', { client_id: api1[0] }],
      ['another scheme', {}, 'Bearer abc'],
      header('a secret that is too long', api1[0], 'x'.repeat(513)),
    ]),
  )('sixty times without a guess: %s', async (_, shape) => {
    const f = await setUp()
    expect(await statusesOf(f, 60, shape, 'introspection')).toEqual(times(60, 401))
    expect(await send(f, header('', ...api1), 'introspection')).toBe(200)
  })

  test('is guessed ten times, known or not', async () => {
    for (const name of [api1[0], 'unknown']) {
      const f = await setUp()
      expect(await statusesOf(f, 12, header('', name, 'guess'), 'introspection')).toEqual([...times(10, 401), 429, 429])
    }
  })
})
