import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import * as oauth from 'oauth4webapi'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createResourceServer, type ResourceServer } from '../../packages/resource-server/src/index.ts'
import { describeWith } from '../support/describe-with.ts'

// The resource server with tokens of another issuer: oidc-provider, which the benchmark installs into `bench/peers`.

const audience = 'https://api.example'
const url = `${audience}/orders`
const insecure = { [oauth.allowInsecureRequests]: true } as const

/** Returns the path of the package, if it is installed. */
function installed(): string | undefined {
  try {
    return createRequire(new URL('../../bench/peers/package.json', import.meta.url)).resolve('oidc-provider')
  } catch {
    return undefined
  }
}

const path = installed()
const missing = path === undefined ? 'Install oidc-provider: npm ci --prefix bench/peers' : undefined

/** @param format the format of its access tokens */
async function startProvider(server: Server, format: 'jwt' | 'opaque'): Promise<string> {
  const { default: Provider } = await import(pathToFileURL(path ?? '').href)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = (id: string, grantTypes: readonly string[]) => ({
    client_id: id,
    client_secret: `${id}-secret`,
    grant_types: grantTypes,
    redirect_uris: [],
    response_types: [],
  })
  const provider = new Provider(issuer, {
    clients: [client('shop', ['client_credentials']), client('api', [])],
    scopes: ['read', 'write'],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      dPoP: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: () => ({ scope: 'read write', audience, accessTokenFormat: format }),
      },
    },
  })
  server.on('request', provider.callback())
  return issuer
}

describeWith(missing, 'tokens of oidc-provider', () => {
  const servers: Server[] = []
  const issuers: Record<string, string> = {}

  beforeAll(async () => {
    for (const format of ['jwt', 'opaque'] as const) {
      const server = createServer()
      servers.push(server)
      issuers[format] = await startProvider(server, format)
    }
  })
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  })

  async function start(format: 'jwt' | 'opaque', DPoP?: oauth.DPoPHandle) {
    const issuer = new URL(issuers[format] ?? '')
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure))
    const client = { client_id: 'shop' }
    const options = { ...insecure, ...(DPoP && { DPoP }) }
    const authentication = oauth.ClientSecretBasic('shop-secret')
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authentication,
      { scope: 'read' },
      options,
    )
    const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, response)
    const api = createResourceServer({
      issuer: server.issuer,
      audience,
      dpop: { baseUrl: audience },
      introspection: { clientId: 'api', clientSecret: 'api-secret' },
    })
    return { token, api }
  }

  /** Sends a request to the API as oauth4webapi does. */
  const send = async (api: ResourceServer, token: string, DPoP?: oauth.DPoPHandle, scopes = 'read') => {
    const handler = api.protect((_request, { claims }) => Response.json(claims), { scopes })
    const options = {
      ...(DPoP && { DPoP }),
      [oauth.customFetch]: (target: string, init: object) => handler(new Request(target, init)),
    }
    const response = await oauth.protectedResourceRequest(token, 'GET', new URL(url), undefined, null, options)
    return response.json()
  }

  test.each(['jwt', 'opaque'] as const)('of the format %s are accepted', async (format) => {
    const { token, api } = await start(format)
    const claims = { iss: issuers[format], aud: audience, client_id: 'shop', scope: 'read' }
    expect(await send(api, token)).toMatchObject(claims)
    await expect(send(api, token, undefined, 'write')).rejects.toMatchObject({
      status: 403,
      cause: [{ scheme: 'bearer', parameters: { error: 'insufficient_scope', scope: 'write' } }, { scheme: 'dpop' }],
    })
  })

  test.each(['jwt', 'opaque'] as const)('of the format %s that are bound to a key need a proof', async (format) => {
    const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('ES256'))
    const { token, api } = await start(format, DPoP)
    expect(await send(api, token, DPoP)).toMatchObject({ cnf: { jkt: expect.any(String) } })
    await expect(send(api, token)).rejects.toMatchObject({ status: 401 })
    const otherKey = oauth.DPoP({}, await oauth.generateKeyPair('ES256'))
    await expect(send(api, token, otherKey)).rejects.toMatchObject({ status: 401 })
  })

  test('that were made up are refused', async () => {
    const { token, api } = await start('opaque')
    await expect(send(api, `${token}x`)).rejects.toMatchObject({ status: 401 })
  })
})
