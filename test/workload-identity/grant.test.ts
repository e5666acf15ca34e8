// The JWT bearer grant with tokens of workloads, as MCP clients send them (SEP-1933): the id of the client, and no secret.

import { hashSecret } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { jwtBearer } from '@grantry/plugins/jwt-bearer'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { workloadIdentity } from '@grantry/plugins/workload-identity'
import { decodeJwt, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { client, createKey, issuers, now, outcomeOf, rules, setUp, tokens } from './parties.ts'

const testClientOptions = {
  clientId: 'web',
  secrets: [hashSecret('web-secret')],
  scopes: ['api1'],
}
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const resource = 'https://mcp.example.com/mcp'
const agent = (name: keyof typeof rules) =>
  client(name, rules[name], { public: true, grantTypes: [grantType], scopes: ['mcp:tools', 'mcp:admin'] })

const start = (grant = true) =>
  setUp(
    {},
    {
      plugins: [clientCredentials(), resourceIndicators(), workloadIdentity({ issuers, grant })],
      clients: [
        agent('github'),
        agent('cluster'),
        agent('spiffe'),
        client('gitlab', rules.gitlab, { scopes: ['mcp:tools'] }),
        client('deploy', rules.github),
      ],
      scopes: [{ name: 'mcp:tools', audience: resource }, { name: 'mcp:admin', audience: resource }, { name: 'api1' }],
    },
  )

async function redeem(f: Awaited<ReturnType<typeof start>>, assertion: string, form: Record<string, string>) {
  const { status, body, failure } = await f.post('token', { grant_type: grantType, assertion, ...form })
  return { status, body, failure: String(failure).replace('plugin:workload-identity:', '') }
}

test.each(['github', 'cluster', 'spiffe'] as const)(
  '2.23 a token of %s is an assertion for the client itself',
  async (name) => {
    const f = await start()
    const { status, body } = await redeem(f, await tokens[name](), { client_id: name, resource })
    expect(status).toBe(200)
    expect(body).not.toHaveProperty('refresh_token')
    expect(decodeJwt(body.access_token)).toMatchObject({ client_id: name, aud: resource, scope: 'mcp:tools mcp:admin' })
    const narrow = await redeem(f, await tokens[name](), { client_id: name, scope: 'mcp:tools' })
    expect(narrow.body.scope).toBe('mcp:tools')
  },
)

describe('2.23 is refused', () => {
  test.each<[string, Parameters<typeof tokens.github>[0], string, string]>([
    ['of another repository', { repository_id: '9' }, 'github', 'claim_mismatch'],
    ['for another client', {}, 'cluster', 'issuer_not_allowed'],
    ['for another service', { aud: 'https://other.example.com' }, 'github', 'aud_invalid'],
    ['of an unknown issuer', { iss: 'https://evil.example.com' }, 'github', 'issuer_unknown'],
  ])('a token %s: invalid_grant', async (_, claims, clientId, reason) => {
    const outcome = await redeem(await start(), await tokens.github(claims), { client_id: clientId })
    expect(outcome).toMatchObject({ status: 400, body: { error: 'invalid_grant' }, failure: reason })
  })

  test('a token that was used, also to authenticate a client', async () => {
    const f = await start()
    const jwt = await tokens.github()
    expect((await redeem(f, jwt, { client_id: 'github' })).status).toBe(200)
    expect(await redeem(f, jwt, { client_id: 'github' })).toMatchObject({ status: 400, failure: 'replayed' })
    expect(await outcomeOf(f, jwt, 'deploy')).toEqual([401, 'replayed'])
    const secondToken = await tokens.github()
    expect(await outcomeOf(f, secondToken, 'deploy')).toEqual([200, undefined])
    expect(await redeem(f, secondToken, { client_id: 'github' })).toMatchObject({ status: 400, failure: 'replayed' })
  })

  test('a client without the id of one, and one that must authenticate', async () => {
    const f = await start()
    expect((await redeem(f, await tokens.github(), {})).status).toBe(401)
    expect((await redeem(f, await tokens.gitlab(), { client_id: 'gitlab' })).status).toBe(401)
  })

  test('a scope of the client that it does not have, or of a user', async () => {
    const f = await start()
    for (const scope of ['openid', 'offline_access', 'other']) {
      const { status, body } = await redeem(f, await tokens.cluster(), { client_id: 'cluster', scope })
      expect([status, body.error]).toEqual([400, 'invalid_scope'])
    }
  })
})

test('2.23 assertions about users of other issuers are for the plugin jwt-bearer', async () => {
  const { jwk, privateKey } = await createKey()
  const partner = 'https://idp.example.com'
  const f = await setUp(
    {},
    {
      plugins: [
        jwtBearer({
          issuers: [{ issuer: partner, jwks: { keys: [jwk] } }],
          subject: ({ sub }) => ({ sub, amr: ['assertion'] }),
        }),
        workloadIdentity({ issuers, grant: true }),
        clientCredentials(),
      ],
      clients: [agent('cluster'), { ...testClientOptions, grantTypes: [grantType] }],
      scopes: [{ name: 'mcp:tools' }, { name: 'mcp:admin' }, { name: 'api1' }],
    },
  )
  expect((await redeem(f, await tokens.cluster(), { client_id: 'cluster' })).status).toBe(200)
  const claims = { iss: partner, sub: 'alice', aud: f.provider.issuer, exp: now + 60, jti: 'one' }
  const assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
  const secret = { client_id: 'web', client_secret: 'web-secret', scope: 'api1' }
  const { status, body } = await redeem(f, assertion, secret)
  expect(status).toBe(200)
  expect(decodeJwt(body.access_token)).toMatchObject({ sub: 'alice', client_id: 'web' })
})

test('2.23 is off without the option', async () => {
  await expect(start(false)).rejects.toThrow(/grant/u)
})
