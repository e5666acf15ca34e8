import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import * as oidc from 'openid-client'
import type { Settings } from './client-options.ts'

/** The provider, as openid-client knows it. */
export interface Connection {
  /** Rejects while the provider cannot be reached. The next call tries again. */
  open(): Promise<oidc.Configuration>
  /** The keys of the provider, for logout tokens. */
  keys(): Promise<JWTVerifyGetKey>
}

export function createConnection({ issuer, clientId, clientSecret, fetch }: Settings): Connection {
  let opened: Promise<oidc.Configuration> | undefined
  let keySet: JWTVerifyGetKey | undefined
  const send = (url: string, init: object): Promise<Response> => fetch(url, init as RequestInit)

  const discover = (): Promise<oidc.Configuration> =>
    oidc.discovery(
      new URL(issuer),
      clientId,
      {},
      clientSecret === undefined ? oidc.None() : oidc.ClientSecretBasic(clientSecret),
      { [oidc.customFetch]: send, ...(issuer.startsWith('http:') && { execute: [oidc.allowInsecureRequests] }) },
    )

  async function open(): Promise<oidc.Configuration> {
    opened ??= discover()
    try {
      return await opened
    } catch (error) {
      opened = undefined
      throw error
    }
  }

  return {
    open,
    async keys() {
      const { jwks_uri: uri = '' } = (await open()).serverMetadata()
      keySet ??= createRemoteJWKSet(new URL(uri), { [customFetch]: send })
      return keySet
    },
  }
}
