// Clients of both generations of the official MCP SDK. They know only the URL of the server and their client id.
import * as current from '@modelcontextprotocol/client'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const generations = {
  'SDK 1': { Client, StreamableHTTPClientTransport, UnauthorizedError },
  'SDK 2': current,
}

export const redirectUrl = 'http://127.0.0.1:9/callback'

/**
 * What a client remembers. The URL that it would open in a browser is in `opened`.
 *
 * @param metadataUrl the URL of its metadata document; without it, an administrator has registered it
 */
function createMemory(metadataUrl) {
  const memory = {
    opened: undefined,
    information: metadataUrl === undefined ? { client_id: 'mcp-client' } : undefined,
    tokens: undefined,
    verifier: undefined,
    discovery: undefined,
  }
  const provider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
    clientMetadataUrl: metadataUrl,
    clientInformation: () => memory.information,
    saveClientInformation: (information) => {
      memory.information = information
    },
    tokens: () => memory.tokens,
    saveTokens: (tokens) => {
      memory.tokens = tokens
    },
    redirectToAuthorization: (url) => {
      memory.opened = url
    },
    saveCodeVerifier: (verifier) => {
      memory.verifier = verifier
    },
    codeVerifier: () => memory.verifier,
    saveDiscoveryState: (state) => {
      memory.discovery = state
    },
    discoveryState: () => memory.discovery,
  }
  return { memory, provider }
}

/**
 * Signs in, as often as the server demands it, and calls a tool.
 *
 * @param open what the browser of the user does with a URL: returns the URL that the client gets back
 */
export async function useServer(generation, url, { tool = 'whoami', dpop = false, metadataUrl, open }) {
  const { Client, StreamableHTTPClientTransport, UnauthorizedError } = generations[generation]
  const { memory, provider } = createMemory(metadataUrl)
  const session = dpop ? await current.DpopSession.create() : undefined
  const authProvider = dpop ? { ...provider, dpop: () => session } : provider
  const asked = []

  async function attempt() {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider })
    const client = new Client({ name: 'test', version: '1.0.0' })
    try {
      await client.connect(transport)
      return await client.callTool({ name: tool, arguments: {} })
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || asked.length === 2) throw error
      asked.push(memory.opened.href)
      const back = await open(memory.opened)
      await transport.finishAuth(back.searchParams.get('code'), back.searchParams.get('iss') ?? undefined)
      return undefined
    } finally {
      await client.close()
    }
  }

  let result
  while (result === undefined) result = await attempt()
  return { asked, result: JSON.parse(result.content[0].text) }
}
