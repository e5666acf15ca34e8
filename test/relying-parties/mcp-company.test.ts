import { once } from 'node:events'
import type { Server } from 'node:http'
import { serve } from '@grantry/adapters/node'
import { createProvider, type Plugins, type ProviderOptions, signingKeys } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { idJag } from '@grantry/plugins/id-jag'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { missing } from './mcp-setting.ts'

// The official MCP SDK with two Grantrys: the identity provider of a company, and the issuer of an MCP server.

const bearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'
const load = (name: string): Promise<Record<string, unknown>> =>
  import(/* @vite-ignore */ new URL(`apps/${name}`, import.meta.url).href)

type StartServer = (options: object, port: number) => Promise<Server>
type Call = (url: string, options: object) => Promise<unknown>

const atCompany = { clientId: 'assistant', clientSecret: 'company-secret' }
const atIssuer = { clientId: 'acme-assistant', clientSecret: 'issuer-secret' }
const redirectUri = 'https://assistant.example/callback'
const secretsOf = ({ clientSecret }: typeof atCompany) => [{ sha256: sha256Of(clientSecret) }]

async function start(issuer: string, plugins: Plugins, more: Pick<ProviderOptions, 'clients' | 'scopes'>) {
  const options = {
    issuer,
    plugins,
    keys: signingKeys(),
    storage: memoryDriver(),
    endpoints: { accessTokenValidation: false },
    // The SDK refuses the metadata of a server without one.
    authorizationEndpoint: `${issuer}/authorize`,
  }
  const provider = await createProvider({ ...options, ...more })
  const { close } = await serve(provider, { port: Number(new URL(issuer).port) })
  return { provider, stop: () => close(0) }
}

const startCompany = (issuer: string, server: string, resource: string) => {
  const clients = [{ clientId: atCompany.clientId, as: atIssuer.clientId, scopes: ['mcp:tools'] }]
  const plugin = idJag({ issue: { servers: [{ issuer: server, resources: [resource], clients }] } })
  return start(issuer, [authorizationCode(), plugin], {
    clients: [
      {
        clientId: atCompany.clientId,
        secrets: secretsOf(atCompany),
        grantTypes: ['authorization_code', exchange],
        scopes: ['openid'],
        redirectUris: [redirectUri],
      },
    ],
  })
}

const startIssuer = (issuer: string, company: string, resource: string) => {
  const issuers = [{ issuer: company, jwksUri: 'https://company.example/jwks', subject: 'same' as const }]
  // The company is on this machine, without TLS.
  const jwksUri = { fetch: () => fetch(`${company}/.well-known/jwks`) }
  return start(issuer, [resourceIndicators(), idJag({ accept: { issuers, jwksUri } })], {
    scopes: [{ name: 'mcp:tools', audience: resource }],
    clients: [
      {
        clientId: atIssuer.clientId,
        secrets: secretsOf(atIssuer),
        grantTypes: [bearer],
        scopes: ['mcp:tools'],
        accessTokenFormat: 'jwt',
      },
    ],
  })
}

/** Signs a user in to the client. */
async function identityTokenOf(provider: Awaited<ReturnType<typeof createProvider>>, sub: string): Promise<string> {
  const proposal = await provider.openAuthorization({
    kind: 'code',
    clientId: atCompany.clientId,
    redirectUri,
    scope: 'openid',
    params: {},
  })
  const code = await provider.authorize(proposal, { subject: { sub, amr: ['pwd'] }, scopes: ['openid'] })
  const response = await fetch(`${provider.issuer}/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${atCompany.clientId}:${atCompany.clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
  })
  return (await response.json()).id_token
}

const defineTests = (): void => {
  test('a client gets to an MCP server for a user of the company, without a page', async () => {
    const { servers } = (await load('mcp-servers.js')) as { servers: Readonly<Record<string, StartServer>> }
    const { callForUser: call } = (await load('mcp-company.js')) as { callForUser: Call }
    const [company, issuer, resource] = await Promise.all(
      ['', '', '/mcp'].map(async (path) => `http://127.0.0.1:${await reservedPort()}${path}`),
    )
    const idp = await startCompany(String(company), String(issuer), String(resource))
    const vendor = await startIssuer(String(issuer), String(company), String(resource))
    const server = await (servers.Fetch as StartServer)(
      { issuer, resource, scopes: 'mcp:tools' },
      Number(new URL(String(resource)).port),
    )
    try {
      const idToken = await identityTokenOf(idp.provider, 'alice')
      const options = { idpUrl: company, expectedIssuer: issuer, idToken, atCompany, atIssuer }
      const outcome = await call(String(resource), options)
      expect(outcome).toMatchObject({
        asked: [{ resource, scope: 'mcp:tools' }],
        result: { clientId: atIssuer.clientId, sub: 'alice', scopes: ['mcp:tools'], resource },
      })
      await idp.provider.revoke({ subject: 'alice' })
      await expect(call(String(resource), options)).rejects.toThrow('Token exchange failed: invalid_request')
    } finally {
      server.close()
      server.closeAllConnections()
      if (server.listening) await once(server, 'close')
      await Promise.all([idp.stop(), vendor.stop()])
    }
  })
}

describeWith(missing, 'Enterprise-Managed Authorization with the official SDK', defineTests, describe)
