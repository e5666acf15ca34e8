import {
  defineFields,
  defineGrantCheck,
  definePlugin,
  type MembersOf,
  member,
  type OAuthError,
  type Plugin,
  type Refuse,
} from '@grantry/core'
import * as v from 'valibot'

declare module '@grantry/core' {
  interface Demands {
    /** RFC 7636 section 4.3. */
    proof_key: { readonly challenge: string; readonly method: 'S256' | 'plain' }
  }
  interface ClientMembers extends MembersOf<typeof clientMembers> {}
}

const clientMembers = {
  /** Whether every authorization of a client with a secret needs PKCE; those of public clients do. Default: `false`. */
  requirePkce: member(v.optional(v.boolean('must be true or false')), {
    title: 'Require PKCE',
    text: 'Public clients need it in any case.',
    group: 'security',
  }),
  /** Allows `code_challenge_method=plain` (RFC 7636 section 4.2). Default: `false`. */
  allowPlainPkce: member(v.optional(v.boolean('must be true or false')), {
    title: 'Accept plain PKCE',
    text: 'For an application that knows no other one: it protects less.',
    group: 'security',
  }),
}

// `check` validates the form: RFC 7636 section 4.6 requires `invalid_grant` for every verifier that does not match.
const params = v.object({ code_verifier: v.optional(v.string()) })

// `challengeIn` validates the form, for messages without the values.
const challengeParams = v.object({
  code_challenge: v.optional(v.string()),
  code_challenge_method: v.optional(v.string()),
})

// RFC 7636 section 4.1; `plain` challenges are verifiers.
const verifierForm = /^[A-Za-z0-9\-._~]{43,128}$/u
// RFC 7636 section 4.2: the base64url of a SHA-256 has exactly 43 characters.
const hashForm = /^[A-Za-z0-9_-]{43}$/u

const notValid = (reason: string, refuse: Refuse): OAuthError =>
  refuse('invalid_grant', 'The authorization code is not valid', reason)

/** Returns the demand of an authorization request; `undefined` if it has no challenge. */
function challengeIn(
  { code_challenge: challenge, code_challenge_method }: v.InferOutput<typeof challengeParams>,
  allowsPlain: boolean,
  refuse: Refuse,
) {
  if (challenge === undefined) {
    if (code_challenge_method === undefined) return undefined
    throw refuse('invalid_request', 'code_challenge_method requires a code_challenge', 'challenge_missing')
  }
  // RFC 7636 section 4.3: the default.
  const method = code_challenge_method ?? 'plain'
  if (method === 'plain') {
    if (!allowsPlain)
      throw refuse('invalid_request', 'The code_challenge_method plain is not allowed', 'plain_not_allowed')
    if (!verifierForm.test(challenge))
      throw refuse('invalid_request', 'The code_challenge is malformed', 'challenge_malformed')
    return { challenge, method } as const
  }
  if (method !== 'S256') throw refuse('invalid_request', 'The code_challenge_method is not supported', 'method_unknown')
  if (!hashForm.test(challenge))
    throw refuse('invalid_request', 'The code_challenge is not an S256 challenge', 'challenge_malformed')
  return { challenge, method } as const
}

const fields = defineFields({
  client: clientMembers,
  metadata: { code_challenge_methods_supported: ['S256'] },
})

const check = defineGrantCheck({
  settles: 'proof_key',
  grantTypes: ['authorization_code'],
  params,
  authorization: {
    params: challengeParams,
    check({ client, params, required }, { refuse }) {
      const demand = challengeIn(params, client.allowPlainPkce === true, refuse)
      if (demand === undefined && (required || client.requirePkce === true))
        throw refuse('invalid_request', 'The client requires a code_challenge', 'challenge_required')
      return { demand }
    },
  },
  check({ client, params: { code_verifier }, demand }, kit) {
    if (demand === undefined) {
      if (code_verifier !== undefined) throw notValid('verifier_without_challenge', kit.refuse)
      // The client may have required PKCE since the code was created.
      if (client.requirePkce === true) throw notValid('challenge_missing', kit.refuse)
      return undefined
    }
    if (code_verifier === undefined) throw notValid('verifier_missing', kit.refuse)
    if (!verifierForm.test(code_verifier)) throw notValid('verifier_malformed', kit.refuse)
    const proof = demand.method === 'S256' ? kit.sha256(code_verifier) : code_verifier
    if (!kit.equals(proof, demand.challenge)) throw notValid('verifier_mismatch', kit.refuse)
    return undefined
  },
})

/**
 * Proof Key for Code Exchange (PKCE): a code with a challenge can be redeemed only with its verifier, and a verifier
 * without a challenge is refused (RFC 9700 section 4.8.2).
 *
 * @see RFC 7636; wire contract, section 3
 */
export const proofKey = (): Plugin => definePlugin('proof-key', [fields, check])
