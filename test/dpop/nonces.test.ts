import { storedKeys } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { dpop } from '@grantry/plugins/dpop'
import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, clients, type Fixture, fixture, web } from '../support/fixture.ts'
import { createIssuerKey } from '../support/trusted-issuer.ts'
import { type Holder, holder, proveUse, request, start, use } from './parties.ts'

const key = await createIssuerKey('client-key')
const keyClient = {
  clientId: 'service',
  jwks: { keys: [key.jwk] },
  tokenEndpointAuthMethod: 'private_key_jwt',
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
}

const setUp = async (): Promise<[Fixture, Holder]> => {
  const f = await start({ nonce: true })
  return [f, await holder('ES256', f.clock.now)]
}
const nonceOf = async (f: Fixture, client: Holder): Promise<string> =>
  (await request(f, await client.prove())).headers.get('dpop-nonce') ?? ''

describe('with nonces', () => {
  test('15.8 a proof without one is refused with the nonce to use', async () => {
    const [f, client] = await setUp()
    const { status, body, headers, reason } = await request(f, await client.prove())
    expect([status, body.error, reason]).toEqual([400, 'use_dpop_nonce', 'plugin:dpop:nonce_missing'])
    const nonce = headers.get('dpop-nonce') ?? ''
    // RFC 9449 section 8.1.
    expect(nonce).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/u)
    const accepted = await request(f, await client.prove({ nonce }))
    expect([accepted.status, accepted.headers.get('dpop-nonce')]).toEqual([200, null])
  })

  test('15.8 an API gets 401 with a challenge and the nonce', async () => {
    const [f, client] = await setUp()
    const nonce = await nonceOf(f, client)
    const { body } = await request(f, await client.prove({ nonce }))
    const refused = await use(f, body.access_token, await proveUse(client, body.access_token))
    expect([refused.status, refused.body.error, refused.headers.get('dpop-nonce')]).toEqual([
      401,
      'use_dpop_nonce',
      nonce,
    ])
    expect(refused.headers.get('www-authenticate')).toMatch(/^DPoP .*error="use_dpop_nonce"/u)
    expect((await use(f, body.access_token, await proveUse(client, body.access_token, { nonce }))).status).toBe(200)
  })

  test('15.8 the previous nonce is accepted, and the response has the current one', async () => {
    const [f, client] = await setUp()
    const first = await nonceOf(f, client)
    f.clock.advance(300)
    const { status, headers } = await request(f, await client.prove({ nonce: first }))
    const second = headers.get('dpop-nonce') ?? ''
    expect([status, second === first, second === '']).toEqual([200, false, false])
    expect((await request(f, await client.prove({ nonce: second }))).headers.get('dpop-nonce')).toBeNull()
    f.clock.advance(300)
    const expired = await request(f, await client.prove({ nonce: first }))
    expect([expired.body.error, expired.reason]).toEqual(['use_dpop_nonce', 'plugin:dpop:nonce_invalid'])
  })

  test('15.8 a client can repeat the request with the same assertion', async () => {
    const plugins = [builtInPlugins, clientAssertion(), dpop({ nonce: true })]
    const f = await fixture({ plugins, clients: [keyClient] })
    const client = await holder('ES256', f.clock.now)
    const now = f.clock.now()
    const claims = { iss: 'service', sub: 'service', aud: f.provider.issuer, jti: '1', iat: now, exp: now + 60 }
    const form = {
      grant_type: 'client_credentials',
      scope: 'api1',
      client_assertion: await key.sign(claims),
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    }
    const send = async (nonce?: string) => request(f, await client.prove({ nonce }), form)
    const refused = await send()
    expect([refused.status, refused.body.error]).toEqual([400, 'use_dpop_nonce'])
    const nonce = refused.headers.get('dpop-nonce') ?? ''
    expect((await send(nonce)).status).toBe(200)
    expect((await send(nonce)).status).toBe(401)
  })

  test('a client that is not authenticated gets a nonce, and no token with it', async () => {
    const [f, client] = await setUp()
    const wrong = ['web', 'wrong-secret'] as const
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    const refused = await request(f, await client.prove(), form, wrong)
    expect([refused.status, refused.body.error]).toEqual([400, 'use_dpop_nonce'])
    const nonce = refused.headers.get('dpop-nonce')
    const { status, body } = await request(f, await client.prove({ nonce }), form, wrong)
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })

  // The OpenID Foundation's suite requires this, too.
  test('the clock of the client does not matter', async () => {
    const [f, client] = await setUp()
    const nonce = await nonceOf(f, client)
    for (const iat of [f.clock.now() - 3600, f.clock.now() + 3600]) {
      expect((await request(f, await client.prove({ nonce, iat }))).status).toBe(200)
    }
  })

  test('a proof is accepted once, as long as its nonce is valid', async () => {
    const [f, client] = await setUp()
    const proof = await client.prove({ nonce: await nonceOf(f, client) })
    expect((await request(f, proof)).status).toBe(200)
    f.clock.advance(299)
    expect((await request(f, proof)).reason).toBe('plugin:dpop:replayed')
  })

  test('another process of the same provider accepts the nonce, another provider does not', async () => {
    const keys = [await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)]
    const process = () => fixture({ plugins: [builtInPlugins, dpop({ nonce: true })], keys, clients })
    const [f, otherProcess, client] = [await process(), await process(), await holder()]
    const nonce = await nonceOf(f, client)
    expect((await request(otherProcess, await client.prove({ nonce }))).status).toBe(200)
    const otherProvider = await start({ nonce: true })
    expect((await request(otherProvider, await client.prove({ nonce }), undefined, web)).reason).toBe(
      'plugin:dpop:nonce_invalid',
    )
  })

  test('the nonce of a provider that shares the plugin is none of this one, also when it was used there', async () => {
    const plugins = [builtInPlugins, dpop({ nonce: true })]
    const issuer = 'https://other.example.com'
    const [f, otherProvider, client] = [await fixture({ plugins }), await fixture({ plugins, issuer }), await holder()]
    const proveThere = (nonce?: string | null) => client.prove({ htu: `${issuer}/connect/token`, nonce })
    const nonce = (await request(otherProvider, await proveThere(undefined))).headers.get('dpop-nonce')
    expect((await request(otherProvider, await proveThere(nonce))).status).toBe(200)
    expect((await request(f, await client.prove({ nonce }))).reason).toBe('plugin:dpop:nonce_invalid')
  })

  test.each([
    [60, 300],
    [300, 60],
  ])('a nonce of a process with the lifetime %d is replaced by one with %d', async (before, after) => {
    const keys = [await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)]
    const process = (nonceLifetime: number) => start({ nonce: true, nonceLifetime }, { keys })
    const [f, otherProcess, client] = [await process(before), await process(after), await holder()]
    const { body, reason } = await request(otherProcess, await client.prove({ nonce: await nonceOf(f, client) }))
    expect([body.error, reason]).toEqual(['use_dpop_nonce', 'plugin:dpop:nonce_invalid'])
  })

  test.each(['', 'x', 'a.b', 'A'.repeat(500)])('the nonce "%s" is refused with the one to use', async (nonce) => {
    const [f, client] = await setUp()
    const { body, headers } = await request(f, await client.prove({ nonce }))
    expect([body.error, headers.get('dpop-nonce') === null]).toEqual(['use_dpop_nonce', false])
  })
})

test('a nonce that was sealed with a compromised key is replaced', async () => {
  const f = await start({ nonce: true }, { keys: storedKeys() })
  const client = await holder('ES256', f.clock.now)
  const nonce = await nonceOf(f, client)
  const [compromised] = await f.provider.keys.list()
  await f.provider.keys.retire(compromised?.kid ?? '', { compromised: true })
  const refused = await request(f, await client.prove({ nonce }))
  expect(refused.reason).toBe('plugin:dpop:nonce_invalid')
  const next = refused.headers.get('dpop-nonce') ?? ''
  expect((await request(f, await client.prove({ nonce: next }))).status).toBe(200)
})

test('without nonces, one that a client sends is ignored', async () => {
  const [f, client] = [await start(), await holder()]
  expect((await request(f, await client.prove({ nonce: 'any' }))).status).toBe(200)
})

/** AES-256-GCM, of which the first call has this outcome: as when a Worker ends the request that has begun it. */
function encryptAfter(first: () => Promise<Uint8Array>) {
  let isFirst = true
  return async (key: BufferSource, iv: BufferSource, data: BufferSource): Promise<Uint8Array> => {
    if (isFirst) {
      isFirst = false
      return first()
    }
    const imported = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt'])
    return new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, imported, data))
  }
}

test.each<[string, () => Promise<Uint8Array>]>([
  ['never ends', () => new Promise(() => {})],
  ['fails', () => Promise.reject(new Error('no memory'))],
])('a nonce whose creation %s is created by the next request', async (_, first) => {
  const f = await start({ nonce: true }, { runtime: { encrypt: encryptAfter(first) } })
  const client = await holder('ES256', f.clock.now)
  void request(f, await client.prove())
  const nonce = await nonceOf(f, client)
  expect((await request(f, await client.prove({ nonce }))).status).toBe(200)
})
