import type { Ask } from './ask.ts'
import type { Grave } from './family.ts'
import { type Ledger, shortly } from './ledger.ts'
import { api } from './setting.ts'

/** Checks whether a revoked family still works: its access tokens, and its newest refresh token. */
export async function inspect(
  grave: Grave,
  { ask, ledger }: { readonly ask: Ask; readonly ledger: Ledger },
): Promise<void> {
  ledger.count('inspections')
  for (const token of grave.accessTokens) {
    const { body } = await ask('/connect/introspect', { token }, api)
    ledger.check(
      'dead stays dead',
      body.active === false,
      () => `a family that ${grave.why} has an active ${shortly(token)}`,
    )
  }
  for (const token of grave.refreshTokens) {
    const form = { grant_type: 'refresh_token', refresh_token: token }
    const { status, body } = await ask('/connect/token', form, grave.as)
    if (status === 200) ledger.successor(token, JSON.stringify(body))
    ledger.check(
      'dead stays dead',
      status === 400,
      () => `a family that ${grave.why} was refreshed by ${shortly(token)}`,
    )
  }
}
