import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { serve } from '@grantry/adapters/node'
import { createProvider, type Provider, signingKeys } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientMetadata } from '@grantry/plugins/client-metadata'
import { dpop } from '@grantry/plugins/dpop'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { registration } from '@grantry/plugins/registration'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { workloadIdentity } from '@grantry/plugins/workload-identity'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { hostSignIn } from '../authorization/parties.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { cluster, keys, rules, tokens } from '../workload-identity/parties.ts'

const apps = new URL('apps/', import.meta.url)
/** Not typed: their dependencies may be missing. */
const load = (name: string): Promise<Record<string, unknown>> => import(/* @vite-ignore */ new URL(name, apps).href)

/** What the tests need and is not installed. */
export const missing = existsSync(fileURLToPath(new URL('../node_modules/@modelcontextprotocol/client', apps)))
  ? undefined
  : 'Install the clients: npm ci --prefix test/relying-parties'

/** Where clients get their codes back. */
export const redirectUrl = 'http://127.0.0.1:9/callback'

/** A client of one user. */
interface McpClient {
  /** The URLs that it has opened. */
  readonly asked: readonly string[]
  readonly memory: {
    tokens: { readonly access_token?: string; readonly refresh_token?: string } | undefined
    readonly information: { readonly client_id: string } | undefined
  }
  /** Signs in if that is necessary, and calls a tool. Returns the text of the response. */
  call(tool: string, parameters?: object): Promise<string>
}
interface McpClientOptions {
  readonly metadataUrl: string | undefined
  /** Whether it registers itself. */
  readonly registers: boolean
  /** Whether it asks for refresh tokens. */
  readonly refreshes: boolean
  open(url: URL): Promise<URL>
}
type CreateClient = (generation: string, url: string, options: McpClientOptions) => McpClient

/** Creates a client of the official SDK that knows only the URL of a server. */
export async function createClient(generation: string, url: string, options: McpClientOptions): Promise<McpClient> {
  return ((await load('mcp-clients.js')) as { createClient: CreateClient }).createClient(generation, url, options)
}

type StartServer = (options: object, port: number) => Promise<Server>
/** Signs in and calls a tool. */
type UseServer = (
  generation: string,
  url: string,
  use: ClientUse & { open(url: URL): Promise<URL> },
) => Promise<{ readonly asked: readonly string[]; readonly result: object; readonly memory: ClientMemory }>

/** What a client remembers. */
export interface ClientMemory {
  readonly memory: {
    readonly information: { readonly client_id: string }
    tokens: { access_token: string; refresh_token?: string } | undefined
  }
}

interface ClientUse {
  readonly tool?: string
  readonly dpop?: boolean
  readonly metadataUrl?: string
  /** Whether the client registers itself. */
  readonly registers?: boolean
  /** That of an earlier use. */
  readonly memory?: ClientMemory
}

/** The URL of the metadata document of a client. */
export const metadataUrl = 'https://client.example.com/oauth/metadata.json'

/** Serves the metadata document of the client. */
const hostOfDocument = async (url: string): Promise<Response> =>
  url === metadataUrl
    ? Response.json({ client_id: url, client_name: 'Test', redirect_uris: ['http://127.0.0.1/callback'] })
    : new Response(null, { status: 404 })

/** Starts the provider. Its scopes are for the resource. */
async function startIssuer(
  resource: string,
): Promise<{ readonly issuer: string; readonly provider: Provider; stop(): Promise<void> }> {
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}`
  const provider = await createProvider({
    issuer,
    keys: signingKeys(),
    storage: memoryDriver(),
    endpoints: { accessTokenValidation: false },
    plugins: [
      authorizationCode(),
      proofKey(),
      resourceIndicators(),
      dpop(),
      refreshToken(),
      clientMetadata({ scopes: ['mcp:tools', 'mcp:admin'], fetch: hostOfDocument }),
      registration({ scopes: ['mcp:tools', 'mcp:admin'], open: true }),
      authorizationEndpoint({ interaction: hostSignIn }),
      workloadIdentity({
        grant: true,
        issuers: [{ platform: 'kubernetes', issuer: cluster, jwks: { keys: [keys.cluster.jwk] } }],
      }),
    ],
    scopes: [
      { name: 'mcp:tools', audience: resource },
      { name: 'mcp:admin', audience: resource },
    ],
    clients: [
      {
        clientId: 'mcp-client',
        public: true,
        accessTokenFormat: 'jwt',
        grantTypes: ['authorization_code'],
        scopes: ['mcp:tools', 'mcp:admin'],
        redirectUris: ['http://127.0.0.1/callback'],
      },
      {
        clientId: 'agent',
        public: true,
        workload: rules.cluster,
        grantTypes: ['urn:ietf:params:oauth:grant-type:jwt-bearer'],
        scopes: ['mcp:tools'],
      },
    ],
  })
  const { close } = await serve(provider, { port })
  return { issuer, provider, stop: () => close(0) }
}

/** The browser of a user who is signed in, and allows everything. */
async function open(url: URL): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual' })
  return new URL(response.headers.get('location') ?? `error:${await response.text()}`)
}

/** An MCP server, its issuer, and clients that know only its URL. */
export interface McpSetting {
  readonly resource: string
  readonly provider: Provider
  readonly useServer: (generation: string, use?: ClientUse) => ReturnType<UseServer>
}

/** Calls a tool as a pod, with a token of its cluster. The clocks of all parties are real. */
export async function callAsPod(generation: string, url: string): Promise<unknown> {
  type Call = (generation: string, url: string, tokenFor: (issuer: string) => Promise<string>) => Promise<unknown>
  const { callAsWorkload } = (await load('mcp-clients.js')) as { callAsWorkload: Call }
  const iat = Math.floor(Date.now() / 1000)
  return callAsWorkload(generation, url, (issuer) => tokens.cluster({ aud: [issuer], iat, nbf: iat, exp: iat + 600 }))
}

/** Starts one of `apps/mcp-servers.js` with its issuer, and stops both afterwards. */
export async function withServer(
  name: string,
  options: (resource: string) => object,
  use: (setting: McpSetting) => Promise<void>,
): Promise<void> {
  const { servers } = (await load('mcp-servers.js')) as { servers: Readonly<Record<string, StartServer>> }
  const { useServer } = (await load('mcp-clients.js')) as { useServer: UseServer }
  const port = await reservedPort()
  const resource = `http://127.0.0.1:${port}/mcp`
  const { issuer, provider, stop } = await startIssuer(resource)
  const server = await servers[name]?.({ issuer, resource, scopes: 'mcp:tools', ...options(resource) }, port)
  try {
    await use({ resource, provider, useServer: (generation, how) => useServer(generation, resource, { ...how, open }) })
  } finally {
    server?.close()
    server?.closeAllConnections()
    if (server?.listening) await once(server, 'close')
    await stop()
  }
}
