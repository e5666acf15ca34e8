import { createHash } from 'node:crypto'
import type { ClientOptions, ProviderOptions } from '@grantry/core'
import * as o from '../operations.ts'
import type { Setting } from '../setting.ts'

const hashed = (secret: string) => [{ sha256: createHash('sha256').update(secret).digest('base64') }]

/** Returns the options that the library and the configuration file of the server share. */
export function grantryOptions({
  retryWindow,
}: Setting): Pick<ProviderOptions, 'issuer' | 'scopes'> & { readonly clients: readonly ClientOptions[] } {
  const [opaqueId, opaqueSecret] = o.opaqueClient
  const [jwtId, jwtSecret] = o.jwtClient
  const [apiName, apiSecret] = o.api
  return {
    issuer: o.issuer,
    clients: [
      {
        clientId: opaqueId,
        secrets: hashed(opaqueSecret),
        grantTypes: ['client_credentials', 'password', 'authorization_code', 'refresh_token'],
        scopes: ['openid', 'profile', 'offline_access', apiName],
        redirectUris: [o.redirectUri],
        authorizationCodeLifetime: o.codeLifetime,
        accessTokenFormat: 'reference',
        ...(retryWindow !== undefined && { refreshToken: { retryWindow } }),
      },
      {
        clientId: jwtId,
        secrets: hashed(jwtSecret),
        grantTypes: ['client_credentials'],
        scopes: [apiName],
        accessTokenFormat: 'jwt',
      },
    ],
    scopes: [{ name: apiName, secrets: hashed(apiSecret), audience: o.audience }],
  }
}
