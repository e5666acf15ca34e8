import type { Kit } from '@grantry/core'
import { importPKCS8 } from 'jose/key/import'
import type * as openidClient from 'openid-client'
import { missingPackage } from '../shared/missing-package.ts'
import type { LibraryFetch } from './outgoing.ts'
import type { Provider, Settings } from './upstream-options.ts'

/** The library openid-client, configured as the client of an upstream provider. */
export interface Library {
  readonly oidc: typeof openidClient
  /** Reads the metadata of the provider. Rejects with an error of the library. */
  discover(fetch: LibraryFetch, kit: Pick<Kit, 'now'>): Promise<openidClient.Configuration>
  /** The key of this process for a provider with `dpop`. */
  dpopOf(client: openidClient.Configuration): { readonly DPoP?: openidClient.DPoPHandle }
}

/** Seconds by which the clock of the provider can differ. */
export const clockTolerance = 60

async function authenticationOf(
  { adapter, clientSecret, authentication, privateKey, privateKeyId, privateKeyAlgorithm }: Provider,
  oidc: typeof openidClient,
  kit: Pick<Kit, 'now'>,
): Promise<openidClient.ClientAuth> {
  if (adapter?.authenticate !== undefined) return adapter.authenticate(kit)
  if (privateKey !== undefined) {
    const key = await importPKCS8(privateKey, privateKeyAlgorithm)
    return oidc.PrivateKeyJwt({ key, ...(privateKeyId !== undefined && { kid: privateKeyId }) })
  }
  if (clientSecret === undefined) return oidc.None()
  return authentication === 'client_secret_post'
    ? oidc.ClientSecretPost(clientSecret)
    : oidc.ClientSecretBasic(clientSecret)
}

async function loadClient(): Promise<typeof openidClient> {
  try {
    return await import('openid-client')
  } catch (cause) {
    throw missingPackage('openid-client', 'A sign-in at another provider', cause)
  }
}

/** Returns a function that loads the library when it is first needed: most processes start before a user signs in. */
export function createLibrary(provider: Provider, { timeout }: Settings): () => Promise<Library> {
  let loading: Promise<Library> | undefined

  async function load(): Promise<Library> {
    const oidc = await loadClient()
    const { issuer, clientId, adapter } = provider
    const keys = provider.dpop ? await oidc.randomDPoPKeyPair('ES256') : undefined
    const metadata = { client_id: clientId, [oidc.clockTolerance]: clockTolerance }
    return {
      oidc,
      dpopOf: (client) => (keys === undefined ? {} : { DPoP: oidc.getDPoPHandle(client, keys) }),
      async discover(fetch, kit) {
        const authentication = await authenticationOf(provider, oidc, kit)
        const isPlain = issuer.startsWith('http:')
        if (adapter?.endpoints !== undefined) {
          const { authorization, token } = adapter.endpoints
          const server = { issuer, authorization_endpoint: authorization, token_endpoint: token }
          const client = new oidc.Configuration(server, clientId, metadata, authentication)
          client[oidc.customFetch] = fetch
          client.timeout = timeout
          if (isPlain) oidc.allowInsecureRequests(client)
          return client
        }
        return oidc.discovery(new URL(issuer), clientId, metadata, authentication, {
          [oidc.customFetch]: fetch,
          timeout,
          ...(isPlain && { execute: [oidc.allowInsecureRequests] }),
        })
      },
    }
  }

  return () => {
    loading ??= load()
    return loading
  }
}
