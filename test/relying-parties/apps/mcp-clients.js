// Clients of both generations of the official MCP SDK. They know only the URL of the server and their client id.
import * as current from '@modelcontextprotocol/client'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const generations = {
  'SDK 1': { Client, StreamableHTTPClientTransport, UnauthorizedError },
  'SDK 2': current,
}

/** The same in `mcp-setting.ts`. */
const redirectUrl = 'http://127.0.0.1:9/callback'

/**
 * What a client remembers. The URL that it would open in a browser is in `opened`.
 *
 * @param metadataUrl the URL of its metadata document
 * @param registers whether it registers itself; without both, an administrator has registered it
 */
function createMemory(metadataUrl, refreshes, registers) {
  const memory = {
    opened: undefined,
    information: metadataUrl === undefined && !registers ? { client_id: 'mcp-client' } : undefined,
    tokens: undefined,
    verifier: undefined,
    discovery: undefined,
  }
  const provider = {
    redirectUrl,
    clientMetadata: {
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
    },
    clientMetadataUrl: metadataUrl,
    clientInformation: () => memory.information,
    saveClientInformation: (information) => {
      memory.information = information
    },
    tokens: () => memory.tokens,
    saveTokens: (tokens) => {
      memory.tokens = tokens
    },
    invalidateCredentials: (scope) => {
      if (scope === 'tokens' || scope === 'all') memory.tokens = undefined
      if (scope === 'client' || scope === 'all') memory.information = undefined
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
 * Creates a client of one user. Its `call()` signs in, as often as the server demands it, and calls a tool.
 *
 * @param open what the browser of the user does with a URL: returns the URL that the client gets back
 */
export function createClient(generation, url, { memory: known, open, ...options }) {
  const { Client, StreamableHTTPClientTransport, UnauthorizedError } = generations[generation]
  const { dpop = false, metadataUrl, refreshes = false, registers = false } = options
  const { memory, provider } = known ?? createMemory(metadataUrl, refreshes, registers)
  const session = dpop ? current.DpopSession.create() : undefined
  const asked = []

  async function attempt(name, parameters) {
    const key = await session
    const authProvider = key === undefined ? provider : { ...provider, dpop: () => key }
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider })
    const client = new Client({ name: 'test', version: '1.0.0' })
    try {
      await client.connect(transport)
      return await client.callTool({ name, arguments: parameters })
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || asked.length === 4) throw error
      asked.push(memory.opened.href)
      const back = await open(memory.opened)
      await transport.finishAuth(back.searchParams.get('code'), back.searchParams.get('iss') ?? undefined)
      return undefined
    } finally {
      await client.close()
    }
  }

  return {
    asked,
    memory,
    provider,
    async call(tool, parameters = {}) {
      let result
      while (result === undefined) result = await attempt(tool, parameters)
      return result.content[0].text
    },
  }
}

/** Signs in and calls a tool. */
export async function useServer(generation, url, { tool = 'whoami', ...options }) {
  const { asked, memory, provider, call } = createClient(generation, url, options)
  return { asked, result: JSON.parse(await call(tool)), memory: { memory, provider } }
}

/**
 * Calls a tool as a workload, without a user: the token of its platform is the assertion of the JWT bearer grant (SEP-1933).
 *
 * @param tokenFor returns the token for an issuer
 */
export async function callAsWorkload(generation, url, tokenFor) {
  const { Client, StreamableHTTPClientTransport } = generations[generation]
  let issuer
  let tokens
  const authProvider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], token_endpoint_auth_method: 'none' },
    clientInformation: () => ({ client_id: 'agent' }),
    tokens: () => tokens,
    saveTokens: (issued) => {
      tokens = issued
    },
    saveDiscoveryState: (state) => {
      issuer = state.authorizationServerMetadata.issuer
    },
    prepareTokenRequest: async (scope) =>
      new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: await tokenFor(issuer),
        ...(scope !== undefined && { scope }),
      }),
  }
  const client = new Client({ name: 'agent', version: '1.0.0' })
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }))
    const { content } = await client.callTool({ name: 'whoami', arguments: {} })
    return JSON.parse(content[0].text)
  } finally {
    await client.close()
  }
}
