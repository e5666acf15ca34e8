import type { ClientOptions } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { basic, type Credentials, read, sha256Of } from '@grantry/testing'
import { assertionType, claims, client, issuer, now, sign, tokenEndpoint } from '../client-assertion/assertions.ts'
import { builtInPlugins, fixture, otherClient, web } from '../support/fixture.ts'
import type { Shape } from './shape.ts'

const cli: Credentials = ['cli', 'cli-secret']
const clients: readonly ClientOptions[] = [
  { clientId: cli[0], secrets: [{ sha256: sha256Of(cli[1]) }], grantTypes: ['client_credentials'], scopes: ['api1'] },
]
const scopes = [{ name: 'api1', audience: 'https://mcp.example.com' }]
const machineTokens = { grant_type: 'client_credentials', scope: 'api1' }

/** Sends a client assertion that differs from the usual one in these claims. Returns the status. */
async function statusOfAssertion(changes: Readonly<Record<string, unknown>>): Promise<number> {
  const plugins = [builtInPlugins, clientAssertion()]
  const { post } = await fixture({ plugins, clients: [client()], scopes })
  const assertion = await sign({ ...claims(), ...changes })
  const form = { ...machineTokens, client_assertion_type: assertionType, client_assertion: assertion }
  return (await post('token', form)).status
}

async function userinfo(authorization: string, init: RequestInit = {}): Promise<number> {
  const { provider, post } = await fixture()
  const password = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid' }
  const { body } = await post('token', password, web)
  const headers = { authorization: authorization.replace('TOKEN', body.access_token), ...init.headers }
  return (await provider.fetch(new Request(`${issuer}/connect/userinfo`, { ...init, headers }))).status
}

export const tokenShapes: readonly Shape[] = [
  {
    client: 'a dozen programs with Go x/oauth2 behind one address, which probe with an empty secret first',
    gets: 'a token each',
    run: async () => {
      const f = await fixture({ clients, scopes })
      const programs = Array.from({ length: 12 })
      const sendAll = (as: Credentials) =>
        Promise.all(programs.map(() => f.post('token', machineTokens, as, '192.0.2.7')))
      await sendAll([cli[0], ''])
      return [...new Set((await sendAll(cli)).map(({ status }) => status))]
    },
    expected: [200],
  },
  ...(
    [
      ['authlib, whose assertions are valid for an hour', { exp: now + 3600 }],
      ['MSAL, whose assertions are valid for ten minutes', { exp: now + 600, aud: tokenEndpoint }],
      ['Go, whose assertions have a list of one audience, the token endpoint', { aud: [tokenEndpoint] }],
    ] as const
  ).map(([name, changes]) => ({
    client: name,
    gets: 'a token',
    run: () => statusOfAssertion(changes),
    expected: 200,
  })),
  ...[
    ['a client that posts no body, with the type of JSON', 'Bearer TOKEN', 'application/json'],
    ['a client that posts no body, with the type of a form', 'Bearer TOKEN', 'application/x-www-form-urlencoded'],
    ['a client that writes two spaces after the scheme', 'Bearer  TOKEN', 'application/x-www-form-urlencoded'],
  ].map(([name = '', authorization = '', type = '']) => ({
    client: name,
    gets: 'the claims of the user',
    run: () => userinfo(authorization, { method: 'POST', headers: { 'content-type': type }, body: '' }),
    expected: 200,
  })),
  {
    client: 'a client that writes two spaces after Basic',
    gets: 'a token',
    run: async () => {
      const { provider } = await fixture({ clients, scopes })
      const headers = { authorization: basic(cli).replace(' ', '  ') }
      const body = new URLSearchParams(machineTokens)
      return (await read(await provider.fetch(new Request(tokenEndpoint, { method: 'POST', headers, body })))).status
    },
    expected: 200,
  },
  ...[
    'https://mcp.example.com/',
    'https://MCP.example.com',
    'https://mcp.example.com:443',
    'HTTPS://mcp.example.com',
  ].map((resource) => ({
    client: `an MCP client that asks for ${resource}`,
    gets: 'a token for the audience https://mcp.example.com',
    run: async () => {
      const { post } = await fixture({ plugins: [builtInPlugins, resourceIndicators()], clients, scopes })
      return (await post('token', { ...machineTokens, resource }, cli)).status
    },
    expected: 200,
  })),
  {
    client: 'a client that revokes the token of another client',
    gets: 'a refusal, and the token stays active',
    run: async () => {
      const { post, provider } = await fixture()
      const password = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
      const { body } = await post('token', password, web)
      const { status } = await post('revocation', { token: body.access_token }, otherClient)
      return [status >= 400, (await provider.inspect(body.access_token)).valid]
    },
    expected: [true, true],
  },
  {
    client: 'any client, which revokes a token that no client has',
    gets: 'success',
    run: async () => (await (await fixture()).post('revocation', { token: 'a'.repeat(43) }, web)).status,
    expected: 200,
  },
]
