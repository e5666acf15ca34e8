import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'

/** What a client remembers of its user. */
export interface ClientMemory {
  client?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens
  verifier?: string
  discovery?: OAuthDiscoveryState
}

const about = { client_name: 'Order assistant', grant_types: ['authorization_code', 'refresh_token'] }

/** @param metadataUrl the URL of the metadata document of the client */
export const rememberIn = (
  memory: ClientMemory,
  redirectUrl: string,
  metadataUrl: string | undefined,
): OAuthClientProvider => ({
  redirectUrl,
  clientMetadata: { ...about, redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
  ...(metadataUrl !== undefined && { clientMetadataUrl: metadataUrl }),
  clientInformation: () => memory.client,
  // All of it: the SDK stores the issuer beside the id, and does not use the client at another one.
  saveClientInformation: (client) => void Object.assign(memory, { client }),
  tokens: () => memory.tokens,
  saveTokens: (tokens) => void Object.assign(memory, { tokens }),
  codeVerifier: () => memory.verifier ?? '',
  saveCodeVerifier: (verifier) => void Object.assign(memory, { verifier }),
  discoveryState: () => memory.discovery,
  saveDiscoveryState: (discovery) => void Object.assign(memory, { discovery }),
  // A program of your own opens the browser.
  redirectToAuthorization: (url) => console.log(`Open ${url}`),
})
