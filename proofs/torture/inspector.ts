import { withoutSignatures } from '../../test/support/same-tokens.ts'
import { api } from '../../test/support/server-setting.ts'
import type { RevokedFamily } from './family.ts'
import { abbreviate, type Ledger } from './ledger.ts'
import type { Send } from './send.ts'

/** Checks whether a revoked family still works: its access tokens, and its newest refresh token. */
export async function inspect(
  revokedFamily: RevokedFamily,
  { send, ledger }: { readonly send: Send; readonly ledger: Ledger },
): Promise<void> {
  ledger.count('inspections')
  for (const token of revokedFamily.accessTokens) {
    const { body } = await send('/connect/introspect', { token }, api)
    ledger.check(
      'dead stays dead',
      body.active === false,
      () => `a family that ${revokedFamily.why} has an active ${abbreviate(token)}`,
    )
  }
  for (const token of revokedFamily.refreshTokens) {
    const form = { grant_type: 'refresh_token', refresh_token: token }
    const { status, body } = await send('/connect/token', form, revokedFamily.as)
    if (status === 200) ledger.successor(token, JSON.stringify(withoutSignatures(body ?? {})))
    ledger.check(
      'dead stays dead',
      status === 400,
      () => `a family that ${revokedFamily.why} was refreshed by ${abbreviate(token)}`,
    )
  }
}
