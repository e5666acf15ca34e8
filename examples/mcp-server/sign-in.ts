import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'

/** What a client remembers of its user, and how the user signs in. */
export interface SignIn {
  readonly provider: OAuthClientProvider
  /** Resolves with the parameters of the next redirect to the client. */
  nextCode(): Promise<URLSearchParams>
  /** Ends the access of this client at the issuer. */
  signOut(): Promise<void>
}

/**
 * A client on the machine of the user: it listens on a free port for the redirect.
 *
 * @param metadataUrl the URL of its metadata document
 */
export async function createSignIn(metadataUrl: string | undefined): Promise<SignIn> {
  const callback = createServer(({ url = '' }, res) => {
    // Browsers request an icon, too.
    if (url.startsWith('/callback?')) callback.emit('code', new URL(url, redirectUrl).searchParams)
    res.end('You can close this page.')
  })
  await once(callback.listen(0, '127.0.0.1'), 'listening')
  const redirectUrl = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`
  const state: {
    client?: StoredOAuthClientInformation
    tokens?: StoredOAuthTokens
    verifier?: string
    discovery?: OAuthDiscoveryState
  } = {}
  const client = { client_name: 'Order assistant', grant_types: ['authorization_code', 'refresh_token'] }
  return {
    provider: {
      redirectUrl,
      clientMetadata: { ...client, redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
      ...(metadataUrl !== undefined && { clientMetadataUrl: metadataUrl }),
      clientInformation: () => state.client,
      // All of it: the SDK stores the issuer beside the id, and does not use the client at another one.
      saveClientInformation: (client) => void Object.assign(state, { client }),
      tokens: () => state.tokens,
      saveTokens: (tokens) => void Object.assign(state, { tokens }),
      codeVerifier: () => state.verifier ?? '',
      saveCodeVerifier: (verifier) => void Object.assign(state, { verifier }),
      discoveryState: () => state.discovery,
      saveDiscoveryState: (discovery) => void Object.assign(state, { discovery }),
      // A program of your own opens the browser.
      redirectToAuthorization: (url) => console.log(`Open ${url}`),
    },
    async nextCode() {
      const [code] = await once(callback, 'code')
      return code
    },
    async signOut() {
      callback.close()
      const metadata = state.discovery?.authorizationServerMetadata
      if (metadata === undefined || !('revocation_endpoint' in metadata)) return
      const body = new URLSearchParams({
        client_id: state.client?.client_id ?? '',
        token: state.tokens?.refresh_token ?? '',
      })
      await fetch(String(metadata.revocation_endpoint), { method: 'POST', body })
    },
  }
}
