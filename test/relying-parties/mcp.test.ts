import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { serve } from '@grantry/adapters/node'
import { createProvider, signingKeys } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { hostSignIn } from '../authorization/parties.ts'
import { describeWith } from '../support/describe-with.ts'
import { reservedPort } from '../support/reserved-port.ts'

// The official MCP SDKs on both sides of an MCP server that `mcpAuth()` protects. The clients know only its URL.

const apps = new URL('apps/', import.meta.url)
/** Not typed: their dependencies may be missing. */
const load = (name: string): Promise<Record<string, unknown>> => import(/* @vite-ignore */ new URL(name, apps).href)

type StartServer = (options: object, port: number) => Promise<Server>
type UseServer = (generation: string, url: string, open: (url: URL) => Promise<URL>) => Promise<object>

async function startIssuer(resource: string): Promise<{ readonly issuer: string; stop(): Promise<void> }> {
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
      authorizationEndpoint({ interaction: hostSignIn }),
    ],
    scopes: [
      { name: 'mcp:tools', audience: resource },
      { name: 'mcp:admin', audience: 'https://other.example/mcp' },
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
    ],
  })
  const { close } = await serve(provider, { port })
  return { issuer, stop: () => close(0) }
}

/** The browser of a user who is signed in, and allows everything. */
async function open(url: URL): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual' })
  return new URL(response.headers.get('location') ?? `error:${await response.text()}`)
}

const missing = existsSync(fileURLToPath(new URL('../node_modules/@modelcontextprotocol/client', apps)))
  ? undefined
  : 'Install the clients: npm ci --prefix test/relying-parties'

const defineTests = (): void => {
  describe.each(['Express', 'Fastify', 'Hono', 'Fetch'])('in %s', (framework) => {
    test.each(['SDK 1', 'SDK 2'])(
      'signs users of a client of %s in, which finds the issuer by itself',
      async (generation) => {
        const { servers } = (await load('mcp-servers.js')) as { servers: Readonly<Record<string, StartServer>> }
        const { useServer } = (await load('mcp-clients.js')) as { useServer: UseServer }
        const port = await reservedPort()
        const resource = `http://127.0.0.1:${port}/mcp`
        const { issuer, stop } = await startIssuer(resource)
        const server = await servers[framework]?.({ issuer, resource, scopes: 'mcp:tools' }, port)
        try {
          expect(await useServer(generation, resource, open)).toEqual({
            asked: expect.objectContaining({ scope: 'mcp:tools', resource, client_id: 'mcp-client' }),
            result: { clientId: 'mcp-client', sub: 'alice', scopes: ['mcp:tools'], resource },
          })
        } finally {
          server?.close()
          server?.closeAllConnections()
          if (server?.listening) await once(server, 'close')
          await stop()
        }
      },
    )
  })
}

describeWith(missing, 'an MCP server with the official SDKs', defineTests, describe)
