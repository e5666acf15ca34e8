import {
  configurationObject,
  defineFields,
  defineGrantCheck,
  definePlugin,
  defineTokenBinding,
  type EndpointRequest,
  type Kit,
  type MembersOf,
  member,
  type OAuthError,
  type OptionsOf,
  type Plugin,
  type ProofRequest,
  parseConfiguration,
  type Refuse,
  sealing,
} from '@grantry/core'
import * as v from 'valibot'
import { wholeSeconds } from '../shared/config-schema.ts'
import { clockSkew } from '../shared/jwt-claims.ts'
import { createNonces } from './nonces.ts'
import { createVerifySignature, isSameTarget, readProof, type UnverifiedProof } from './proof.ts'

/** Algorithms of DPoP proofs. RFC 9449 section 4.3 requires asymmetric ones. */
const algorithms = ['ES256', 'PS256', 'EdDSA', 'Ed25519'] as const

const algorithm = v.picklist(algorithms, `must be one of ${algorithms.join(', ')}`)

export const dpopSchema = configurationObject({
  /** The accepted algorithms of proofs. */
  algorithms: v.optional(
    v.pipe(v.array(algorithm, 'must be an array of algorithms'), v.minLength(1, 'must not be empty'), v.readonly()),
    [...algorithms],
  ),
  /** Seconds after `iat` until which a proof is accepted. */
  maxAge: v.optional(wholeSeconds(10, 600), 60),
  /** Seconds by which the clock of a client may be ahead. */
  clockTolerance: v.optional(wholeSeconds(0, 60), 10),
  /**
   * Whether proofs must contain a nonce of this provider, so that they cannot be prepared in advance (RFC 9449 section
   * 8). The nonce then determines the age of a proof, not the clock of the client.
   */
  nonce: v.optional(v.boolean('must be true or false'), false),
  /** Seconds after which a new nonce is sent. The one before it remains valid. */
  nonceLifetime: v.optional(wholeSeconds(30, 3600), 300),
  /** The clients whose refresh tokens are bound. `public`: public clients; `all`: confidential clients, too. */
  bindRefreshTokens: v.optional(v.picklist(['public', 'all'], 'must be "public" or "all"'), 'public'),
})

export type DpopOptions = OptionsOf<typeof dpopSchema>
type Settings = v.InferOutput<typeof dpopSchema>

/** RFC 9449 sections 5 and 8 require 400 at the token endpoint, sections 7.1 and 9 require 401 elsewhere. */
const errors = {
  invalid_dpop_proof: { client: 400, bearer: 401 },
  use_dpop_nonce: { client: 400, bearer: 401 },
} as const

type DpopErrors = typeof errors

const clientMembers = {
  /** Whether requests for tokens must contain a DPoP proof (RFC 9449 section 5.2). Default: `false`. */
  dpopBoundAccessTokens: member(v.optional(v.boolean('must be true or false'), false), {
    title: 'Require DPoP',
    text: 'Its tokens are bound to a key, and useless to a thief without it.',
    group: 'security',
  }),
}

declare module '@grantry/core' {
  interface ClientMembers extends MembersOf<typeof clientMembers> {}
  interface OAuthErrorCodes extends DpopErrors {}
}

const notValid = (reason: string, refuse: Refuse): OAuthError =>
  refuse('invalid_dpop_proof', 'The DPoP proof is not valid', reason)

const nonceHeader = 'dpop-nonce'

/** Refuses a proof with the nonce that the client must use. */
const nonceRequired = (nonce: string, reason: string, refuse: Refuse): OAuthError =>
  refuse('use_dpop_nonce', 'The DPoP proof must contain the nonce of the header DPoP-Nonce', reason, {
    headers: { [nonceHeader]: nonce },
  })

/** RFC 9449 section 5.2: a client that requires DPoP. */
function assertNotRequired({ client, asksForTokens }: ProofRequest, refuse: Refuse): void {
  if (!asksForTokens || client.dpopBoundAccessTokens !== true) return
  // `invalid_dpop_proof` would say that there is a proof.
  throw refuse('invalid_request', 'A DPoP proof is required', 'proof_missing')
}

function createProofs(settings: Settings) {
  const { maxAge, clockTolerance, nonce: requiresNonce, nonceLifetime } = settings
  const allowed: readonly string[] = settings.algorithms
  const nonces = createNonces(nonceLifetime)
  const verifySignature = createVerifySignature()

  /** Returns the reason why a proof is not for this request. */
  function problemWith(
    { alg, claims }: UnverifiedProof,
    { method, url, aliasUrl = url, accessToken }: ProofRequest,
    kit: Kit,
  ) {
    if (!allowed.includes(alg)) return 'algorithm_not_allowed'
    if (claims.htm !== method) return 'htm_mismatch'
    if (!isSameTarget(claims.htu, url) && !isSameTarget(claims.htu, aliasUrl)) return 'htu_mismatch'
    if (accessToken !== undefined && claims.ath !== kit.sha256(accessToken)) return 'ath_mismatch'
    return undefined
  }

  /** Returns the generation of the nonce in a proof. @throws OAuthError if there is none, or it is no longer valid */
  async function generationOf({ nonce }: UnverifiedProof['claims'], kit: Kit): Promise<number> {
    if (nonce === undefined) throw nonceRequired(await nonces.current(kit), 'nonce_missing', kit.refuse)
    const generation = await nonces.generationOf(nonce, kit)
    if (generation === undefined) throw nonceRequired(await nonces.current(kit), 'nonce_invalid', kit.refuse)
    return generation
  }

  /** Checks how old a proof is. Returns the epoch seconds until which it would be accepted, and headers. */
  async function freshness({ claims }: UnverifiedProof, kit: Kit) {
    const now = kit.now()
    // A nonce shows how old the proof is, whatever the clock of the client.
    if (!requiresNonce) {
      if (claims.iat > now + clockTolerance) throw notValid('iat_in_future', kit.refuse)
      if (claims.iat < now - maxAge) throw notValid('too_old', kit.refuse)
      return { until: claims.iat + maxAge, headers: undefined }
    }
    const generation = await generationOf(claims, kit)
    const isCurrent = generation >= nonces.generation(kit)
    // The client can use the new one before the old one expires (RFC 9449 section 8.2).
    const headers = isCurrent ? undefined : { [nonceHeader]: await nonces.current(kit) }
    return { until: nonces.expiryOf(generation), headers }
  }

  async function prove(request: ProofRequest, kit: Kit) {
    const header = request.header('dpop')
    if (header === null) {
      assertNotRequired(request, kit.refuse)
      return undefined
    }
    const proof = readProof(header, kit)
    if (proof === undefined) throw notValid('malformed', kit.refuse)
    const problem = problemWith(proof, request, kit)
    if (problem !== undefined) throw notValid(problem, kit.refuse)
    const { until, headers } = await freshness(proof, kit)
    if (!(await verifySignature(proof, { now: kit.now(), clockTolerance })))
      throw notValid('signature_mismatch', kit.refuse)
    const { thumbprint, claims } = proof
    const once = {
      id: JSON.stringify([thumbprint, claims.jti]),
      expiresAt: until + clockSkew,
      refuse: () => notValid('replayed', kit.refuse),
    }
    return { key: thumbprint, headers, once }
  }

  /** Some clients repeat a request with the nonce, but with the same assertion, which is accepted only once. */
  async function admit(request: EndpointRequest, kit: Kit): Promise<void> {
    const header = request.header('dpop')
    const proof = header === null ? undefined : readProof(header, kit)
    if (proof !== undefined) await generationOf(proof.claims, kit)
  }

  return { prove, ...(requiresNonce && { admit }) }
}

/** RFC 9449 section 10: the authorization request can name the key that redeems the code. */
const authorizationKey = defineGrantCheck({
  grantTypes: 'all',
  params: v.object({}),
  authorization: {
    params: v.object({ dpop_jkt: v.optional(v.string()) }),
    check({ params: { dpop_jkt: jkt } }, { refuse }) {
      if (jkt === undefined) return undefined
      // RFC 7638: the base64url of a SHA-256.
      if (/^[\w-]{43}$/u.test(jkt)) return { confirmation: { jkt } }
      throw refuse('invalid_request', 'dpop_jkt is not a thumbprint', 'jkt_malformed')
    },
  },
  check: () => undefined,
})

/**
 * Demonstrating Proof of Possession: binds access tokens, and the refresh tokens of public clients, to a key of the
 * client. Each request proves the key with a signed JWT, which is accepted once.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see RFC 9449
 */
export function dpop(options: DpopOptions = {}): Plugin {
  const settings = parseConfiguration(dpopSchema, options, 'dpop()')
  const { algorithms, bindRefreshTokens } = settings
  return definePlugin('dpop', [
    sealing,
    defineFields({
      client: clientMembers,
      clientMetadata: { dpop_bound_access_tokens: 'dpopBoundAccessTokens' },
      errors,
      metadata: { dpop_signing_alg_values_supported: algorithms },
    }),
    defineTokenBinding({
      member: 'jkt',
      scheme: 'DPoP',
      challenge: { algs: algorithms.join(' ') },
      exposedHeaders: [nonceHeader],
      ...(bindRefreshTokens === 'all' && { bindsRefreshTokens: () => true }),
      ...createProofs(settings),
    }),
    authorizationKey,
  ])
}
