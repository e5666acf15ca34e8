/**
 * Attack: a caller without an account registers clients whose `jwks_uri` is on hosts that never respond, and sends requests in
 * their names. The requests that wait for these keys must not take the places of clients of the operator, and a
 * `jwks_uri` that changes again and again must not make the provider flood another host.
 */
import type { ClientOptions } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { proofKey } from '@grantry/plugins/proof-key'
import { registration } from '@grantry/plugins/registration'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { hostSignIn } from '../authorization/parties.ts'
import { assertionType, claims, createKey, sign } from '../client-assertion/assertions.ts'
import { issuer, metadata, type Registered, setUp } from '../registration/parties.ts'
import { eventually } from '../support/eventually.ts'

const honestKey = await createKey('ES256', { kid: 'honest' })
const attackersKey = await createKey('ES256', { kid: 'attacker' })
const honest: ClientOptions = {
  clientId: 'honest',
  tokenEndpointAuthMethod: 'private_key_jwt',
  jwksUri: 'https://honest.example.com/jwks',
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
} as ClientOptions

/** Seconds of no other timer: the time limit of the fetches never ends, however slow the machine is. */
const timeLimit = 29.5
afterEach(() => void vi.unstubAllGlobals())

function neverLate(): void {
  const { setTimeout: start } = globalThis
  vi.stubGlobal('setTimeout', (call: () => void, delay?: number, ...parameters: never[]) =>
    start(delay === timeLimit * 1000 ? () => {} : call, delay, ...parameters),
  )
}

async function attacked() {
  const requested: string[] = []
  const fetch = (url: string): Promise<Response> => {
    requested.push(url)
    if (url.includes('hung')) return new Promise(() => {})
    return Promise.resolve(Response.json({ keys: [url.includes('honest') ? honestKey.jwk : attackersKey.jwk] }))
  }
  const f = await setUp(
    {},
    {
      plugins: [
        authorizationCode(),
        proofKey(),
        clientCredentials(),
        clientAssertion({ jwksUri: { fetch, timeout: timeLimit } }),
        authorizationEndpoint({ interaction: hostSignIn }),
        registration({
          scopes: ['api1'],
          grantTypes: ['authorization_code', 'client_credentials'],
          authenticationMethods: ['private_key_jwt'],
          open: true,
        }),
      ],
      clients: [honest],
    },
  )
  async function present(clientId: string, { privateKey }: typeof honestKey, kid: string, clientAddress: string) {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_assertion_type: assertionType,
      client_assertion: await sign(claims(clientId), privateKey, { kid }),
      scope: 'api1',
    })
    const request = new Request(`${issuer}/connect/token`, { method: 'POST', body })
    return (await f.provider.fetch(request, { clientAddress })).status
  }
  return {
    ...f,
    requested,
    attack: ({ client_id: id }: Registered, from: string, kid = 'attacker') => present(id, attackersKey, kid, from),
    asHonest: (from: string) => present('honest', honestKey, 'honest', from),
  }
}

const described = (uri: string) => ({
  ...metadata,
  grant_types: ['authorization_code', 'client_credentials'],
  token_endpoint_auth_method: 'private_key_jwt',
  jwks_uri: uri,
})

describe('clients that have registered themselves', () => {
  test('with hosts that hang leave places for clients of the operator', async () => {
    neverLate()
    const f = await attacked()
    for (let count = 0; count < 10; count += 1) {
      const client = await f.registered(described(`https://hung-${count}.example.com/jwks`))
      for (let request = 0; request < 32; request += 1) void f.attack(client, `198.51.100.${count}`)
    }
    await eventually(() => expect(f.requested.length).toBeGreaterThanOrEqual(8))
    expect(await f.asHonest('192.0.2.1')).toBe(200)
  })

  test('from one address make the provider fetch keys 20 times in a minute, whatever their URLs', async () => {
    const f = await attacked()
    let client = await f.registered(described('https://keys.example.com/0'))
    const statuses = []
    for (let count = 1; count <= 40; count += 1) {
      // A client changes 20 times in a window (test/attacks/registration-changes.test.ts), so that more takes another one.
      if (count === 21) client = await f.registered(described('https://keys.example.com/other'))
      const body = { ...described(`https://keys.example.com/${count}`), client_id: client.client_id }
      const { registration_access_token: token, registration_client_uri: url } = client
      client = (await f.send(url, { method: 'PUT', token, body })).body
      statuses.push(await f.attack(client, '192.0.2.66'))
    }
    expect(f.requested).toHaveLength(20)
    expect(statuses.slice(20)).toEqual(Array(20).fill(503))
    // Neither other addresses nor clients of the operator notice it.
    expect(await f.attack(client, '192.0.2.1')).toBe(200)
    expect(await f.asHonest('192.0.2.66')).toBe(200)
    // Nor does a made-up id of a key cause one more fetch for this address; it does for another one.
    f.clock.advance(1)
    const before = f.requested.length
    expect(await f.attack(client, '192.0.2.66', 'made-up')).toBe(401)
    expect(f.requested).toHaveLength(before)
    expect(await f.attack(client, '192.0.2.1', 'made-up')).toBe(401)
    expect(f.requested).toHaveLength(before + 1)
    f.clock.advance(60)
    expect(await f.attack(await f.registered(described('https://keys.example.com/41')), '192.0.2.66')).toBe(200)
  })
})
