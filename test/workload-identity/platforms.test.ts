import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { claims, createKey, sign } from '../client-assertion/assertions.ts'
import { client, clients, outcomeOf, present, rules, setUp, tokens, trustDomain } from './parties.ts'

const platforms = Object.keys(tokens) as readonly (keyof typeof tokens)[]

test.each(platforms)(
  '2.17 a token of %s authenticates the client whose rule it matches, and no other one',
  async (platform) => {
    const f = await setUp()
    for (const { clientId } of clients) {
      const expected = clientId === platform ? [200, undefined] : [401, 'issuer_not_allowed']
      expect(await outcomeOf(f, await tokens[platform](), clientId)).toEqual(expected)
    }
  },
)

test('2.17 an access token for a workload names the client', async () => {
  const f = await setUp()
  const { body } = await present(f, await tokens.cluster(), 'cluster')
  expect(decodeJwt(body.access_token)).toMatchObject({ client_id: 'cluster', scope: 'api1' })
})

test('2.18 a JWT-SVID has a type of its own, and its client can have the SPIFFE ID as its id', async () => {
  const id = `${trustDomain}/ns/payments/sa/worker`
  const f = await setUp({}, { clients: [...clients, client(id, rules.spiffe)] })
  expect(await outcomeOf(f, await tokens.spiffe(), 'spiffe', 'jwt-spiffe')).toEqual([200, undefined])
  expect(await outcomeOf(f, await tokens.spiffe(), undefined, 'jwt-spiffe')).toEqual([200, undefined])
  expect(await outcomeOf(f, await tokens.spiffe(), undefined)).toEqual([200, undefined])
  expect(await outcomeOf(f, await tokens.cluster(), undefined)).toEqual([401, 'client_id_missing'])
})

test('clients that sign their assertions themselves are still authenticated beside it', async () => {
  const key = await createKey()
  const signing = {
    clientId: 'service',
    jwks: { keys: [key.jwk] },
    grantTypes: ['client_credentials'],
    scopes: ['api1'],
  }
  const f = await setUp({}, { clients: [...clients, signing] })
  expect(await outcomeOf(f, await sign(claims(), key.privateKey), 'service')).toEqual([200, undefined])
  expect(await outcomeOf(f, await sign(claims(), key.privateKey), undefined)).toEqual([200, undefined])
})

test('the discovery document names the methods and algorithms', async () => {
  const { provider } = await setUp()
  expect(provider.metadata).toMatchObject({
    token_endpoint_auth_methods_supported: expect.arrayContaining(['workload_jwt', 'spiffe_jwt', 'private_key_jwt']),
    token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['RS256', 'ES256']),
  })
})
