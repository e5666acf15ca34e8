import { type AtomicDriver, createProvider, type Provider, type ProviderOptions, type Runtime } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, type InteractionPort } from '@grantry/plugins/authorization-endpoint'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { dpop } from '@grantry/plugins/dpop'
import { password } from '@grantry/plugins/password'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as o from '../operations.ts'
import { type Issue, issueMany, type Setting } from '../setting.ts'
import { isUser, ownersOf, subOf, usernames } from '../users.ts'
import { grantryOptions } from './grantry-options.ts'
import { proofsFor } from './grantry-proofs.ts'

/** Signs the user in at the first visit. */
const interaction: InteractionPort = {
  async interact({ request, session, sessions, http, kit }) {
    if (session !== undefined) return { scopes: request.scopes, trusted: true }
    // Of different users: the number of sessions of one is limited.
    const sub = usernames[Math.floor(Math.random() * usernames.length)] ?? o.user.sub
    const { cookies } = await sessions.start(kit, { subject: { sub, amr: ['pwd'] } }, http)
    return { location: http.url, cookies }
  },
}

/** Returns the cookie of a new session. */
async function newSession(provider: Provider): Promise<string> {
  const { headers } = await provider.fetch(new Request(`${o.issuer}${o.paths.authorization}?${o.authorizationQuery}`))
  return headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

const usersInMemory: NonNullable<ProviderOptions['users']> = {
  authenticate({ username, password }) {
    const sub = subOf(username, password)
    return sub === undefined ? undefined : { sub }
  },
  isActive: isUser,
  claims: () => o.user.claims,
}

/** Creates a provider as a host would, by default with everything in memory. */
export function openGrantry(
  setting: Setting,
  runtime: Partial<Runtime>,
  storage: AtomicDriver = memoryDriver(),
  users = usersInMemory,
): Promise<Provider> {
  return createProvider({
    ...grantryOptions(setting),
    keys: [setting.signingKey],
    storage,
    users,
    plugins: [
      ...[clientCredentials(), password(), authorizationCode(), refreshToken()],
      // The other operations are measured without it.
      ...(o.proves(setting.operation) ? [dpop()] : []),
      ...(setting.operation === o.signInOperation ? [proofKey(), authorizationEndpoint({ interaction })] : []),
    ],
    runtime,
  })
}

/** Issues codes as a login page does, tokens from the provider's token endpoint, and the proofs of a client. */
export function grantryIssue(provider: Provider, setting: Pick<Setting, 'usersTable'> = {}): Issue {
  const nextOwner = ownersOf(setting)
  return async (operation, count) => {
    if (o.proves(operation)) return proofsFor(operation, count, provider)
    if (!o.presentsIssued(operation)) return []
    const scopes = o.issuedScopes[operation]
    const [clientId] = o.opaqueClient
    const { redirectUri } = o
    return issueMany(count, async () => {
      if (operation === o.signInOperation) return newSession(provider)
      const proposal = await provider.openAuthorization({ kind: 'code', clientId, redirectUri, scopes })
      const code = await provider.authorize(proposal, { subject: { sub: nextOwner(), amr: ['pwd'] } })
      if (operation === 'authorization-code') return code
      const response = await provider.fetch(
        new Request(o.issuer + o.paths.token, {
          method: 'POST',
          headers: { authorization: `Basic ${btoa(o.opaqueClient.join(':'))}` },
          body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
        }),
      )
      const reply = (await response.json()) as Record<string, string>
      return String(operation === 'refresh' ? reply.refresh_token : reply.access_token)
    })
  }
}
