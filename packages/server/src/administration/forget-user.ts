import type { Provider } from '@grantry/core'
import { secondFactors, upstreamUsers, userAuthorizations, userConsents } from '../plugin-keys.ts'

/**
 * Removes what plugins have stored about a user who was revoked, and is being removed: consents, the list of
 * applications, passkeys, second factors, links to accounts at providers and what these have stated. The sessions have
 * already ended. Can be repeated.
 */
export async function forgetUser(sub: string, provider: Provider): Promise<void> {
  if (provider.has(userConsents)) await provider.use(userConsents).forget(sub)
  if (provider.has(userAuthorizations)) await provider.use(userAuthorizations).forget(sub)
  // The host removes the factors of its functions without `reset`.
  const factors = provider.has(secondFactors) ? provider.use(secondFactors) : undefined
  if (factors?.withoutReset.length === 0) await factors.reset(sub)
  if (provider.has(upstreamUsers)) await provider.use(upstreamUsers).forget(sub)
}
