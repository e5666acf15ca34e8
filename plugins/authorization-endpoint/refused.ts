import { OAuthError } from '@grantry/core'
import type { RefusalCode } from './interaction.ts'

const refusalTexts: Readonly<Record<RefusalCode, string>> = {
  access_denied: 'The user has denied the request',
  account_selection_required: 'The user must choose an account',
  consent_required: 'The user must consent',
  interaction_required: 'The user must interact with a page',
  login_required: 'The user must sign in',
  temporarily_unavailable: 'Try again later',
}

/** The refusal of an interaction, for the client. @see OpenID Connect Core section 3.1.2.6 */
export const refused = (code: RefusalCode): OAuthError =>
  new OAuthError(code, refusalTexts[code], { reason: `plugin:authorization-endpoint:${code}` })
