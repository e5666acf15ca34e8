import { createHash } from 'node:crypto'
import { type AtomicDriver, createProvider, type Provider, type Runtime } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as o from '../operations.ts'
import type { Setting } from '../setting.ts'

const hashed = (secret: string) => [{ sha256: createHash('sha256').update(secret).digest('base64') }]

export interface GrantryVariant {
  readonly storage?: AtomicDriver
  /** Seconds. Default: that of a client. */
  readonly retryWindow?: number
}

/** Creates a provider as a host with an in-memory store would. */
export function openGrantry(
  { signingKey }: Setting,
  runtime: Partial<Runtime>,
  { storage = memoryDriver(), retryWindow }: GrantryVariant = {},
): Promise<Provider> {
  const [opaqueId, opaqueSecret] = o.opaqueClient
  const [jwtId, jwtSecret] = o.jwtClient
  const [apiName, apiSecret] = o.api
  return createProvider({
    issuer: o.issuer,
    keys: [signingKey],
    storage,
    clients: [
      {
        clientId: opaqueId,
        secrets: hashed(opaqueSecret),
        grantTypes: ['client_credentials', 'password', 'refresh_token'],
        scopes: ['openid', 'profile', 'offline_access', apiName],
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
    users: {
      authenticate: ({ username, password }) =>
        username === o.user.username && password === o.user.password ? { sub: o.user.sub } : undefined,
      isActive: (sub) => sub === o.user.sub,
      claims: () => o.user.claims,
    },
    plugins: [clientCredentials(), password(), refreshToken()],
    runtime,
  })
}

/** Requests the tokens that the operation presents from the provider's token endpoint. */
export async function grantryTokens(provider: Provider, { operation, tokens }: Setting): Promise<string[]> {
  if (operation !== 'introspection' && operation !== 'userinfo' && operation !== 'refresh') return []
  const issued: string[] = []
  for (let count = 0; count < tokens; count += 1) {
    const response = await provider.fetch(
      new Request(o.issuer + o.paths.token, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(o.opaqueClient.join(':'))}` },
        body: new URLSearchParams({
          grant_type: 'password',
          username: o.user.username,
          password: o.user.password,
          scope: o.heldScopes[operation].join(' '),
        }),
      }),
    )
    const reply = (await response.json()) as Record<string, string>
    issued.push(String(operation === 'refresh' ? reply.refresh_token : reply.access_token))
  }
  return issued
}
