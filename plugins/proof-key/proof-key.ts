import { defineFields, defineGrantCheck, definePlugin, OAuthError, type Plugin } from '@grantry/core'
import * as v from 'valibot'

// `check` validates the form: RFC 7636 section 4.6 requires `invalid_grant` for every verifier that does not match.
const params = v.object({ code_verifier: v.optional(v.string()) })

// RFC 7636 section 4.1.
const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/u

const notValid = (reason: string): OAuthError =>
  new OAuthError('invalid_grant', 'The authorization code is not valid', { reason: `plugin:proof_key:${reason}` })

const metadata = defineFields({ metadata: { code_challenge_methods_supported: ['S256'] } })

const check = defineGrantCheck({
  settles: 'proof_key',
  grantTypes: ['authorization_code'],
  params,
  check({ params: { code_verifier }, demand }, kit) {
    if (demand === undefined) {
      if (code_verifier !== undefined) throw notValid('verifier_without_challenge')
      return
    }
    if (code_verifier === undefined) throw notValid('verifier_missing')
    if (!verifierForm.test(code_verifier)) throw notValid('verifier_malformed')
    const proof = demand.method === 'S256' ? kit.sha256(code_verifier) : code_verifier
    if (!kit.equals(proof, demand.challenge)) throw notValid('verifier_mismatch')
  },
})

/**
 * Proof Key for Code Exchange (PKCE): a code with a challenge can be redeemed only with its verifier, and a verifier
 * without a challenge is refused (RFC 9700 section 4.8.2).
 *
 * @see RFC 7636 section 4.6; wire contract, section 3
 */
export const proofKey = (): Plugin => definePlugin('proof-key', [metadata, check])
