import type { Client, Kit } from '@grantry/core'
import type { JWTPayload } from 'jose'
import { createPublishedKeys } from '../shared/jwks-uri.ts'
import { assertionProblem, singleUseOf } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'
import { unverifiedJwt, type Verification, verifiedJwt } from '../shared/verify-jwt.ts'
import { createLoadKeys, keysIn } from './issuer-keys.ts'
import { claimAt, matches } from './patterns.ts'
import { allTypes, platforms, trustDomainOf, type WorkloadRule } from './platforms.ts'
import type { Settings, WorkloadIssuer } from './workload-options.ts'

/** Why a token does not authenticate a client, for events only. */
export interface TokenRefusal {
  readonly reason: string
  readonly detail?: string | undefined
}

/** Verifies tokens of workloads. */
export interface WorkloadTokens {
  /** Whether a token claims to be from one of the issuers. No signature is verified. */
  isOwn(jwt: string): boolean
  /**
   * Verifies a token and compares it with the rule of the client. The steps before the comparison do not depend on the
   * client, so the response time does not reveal which clients exist.
   *
   * @param isSvid whether the request says that the token is a JWT-SVID
   * @throws OAuthError `temporarily_unavailable` if the keys of the issuer cannot be fetched
   */
  verify(jwt: string, client: Client | undefined, kit: Kit, isSvid?: boolean): Promise<true | TokenRefusal>
}

type VerifiedToken = JWTPayload & { readonly exp: number }

/** Returns the first claim that the rule does not allow. */
function mismatchIn(payload: JWTPayload, { subject, claims = {} }: WorkloadRule): string | undefined {
  if (subject !== undefined && !matches(subject, payload.sub)) return 'sub'
  return Object.entries(claims).find(([name, values]) => !matches(values, claimAt(payload, name)))?.[0]
}

const maxSubjectLength = 2048

/** Checks what jose does not check. Returns the reason of a refusal. */
function problemWith(
  payload: VerifiedToken,
  { maxLifetime, singleUse, platform, audience: configured }: WorkloadIssuer,
  {
    rule,
    now,
    issuer,
    clockTolerance,
  }: Readonly<{ rule?: WorkloadRule; now: number; issuer: string; clockTolerance: number }>,
): string | undefined {
  const { sub, jti, cnf } = payload
  const audience = [rule?.audience ?? configured ?? issuer]
  const problem = assertionProblem(payload, { audience, now, maxLifetime, clockTolerance, maxSubjectLength })
  if (problem !== undefined) return problem
  if (platform === 'spiffe' && trustDomainOf(sub) === undefined) return 'sub_invalid'
  // The token is useless without this key, and nothing proves it here.
  if (cnf !== undefined) return 'key_not_proved'
  return singleUse && jti === undefined ? 'jti_missing' : undefined
}

const hints: Readonly<Record<string, ((issuer: WorkloadIssuer) => string) | undefined>> = {
  aud_invalid: () => 'aud must be this issuer alone, unless audience of the issuer or of the rule is another text',
  exp_too_late: () => 'the token is valid for longer than maxLifetime of its issuer',
  iat_too_early: () => 'the token is older than maxLifetime of its issuer',
  jti_missing: () => 'the issuer sends no jti; set its singleUse to false',
  algorithm_not_allowed: () => 'algorithms of the issuer does not contain the one of the token',
  key_unknown: ({ platform }) =>
    platform === 'kubernetes' ? 'another cluster can have the same issuer' : 'the issuer has no such key',
}

export function createWorkloadTokens(settings: Settings, issuers: ReadonlyMap<string, WorkloadIssuer>): WorkloadTokens {
  const { clockTolerance } = settings
  const load = createLoadKeys(issuers)
  const publishedAt = (allowPrivateAddresses: boolean) =>
    createPublishedKeys({ ...settings.jwksUri, allowPrivateAddresses }, { load })
  const [publicly, privately] = [publishedAt(false), publishedAt(true)]
  const configured = new Map([...issuers].map(([name, issuer]) => [name, issuer.jwks && keysIn(issuer.jwks, issuer)]))

  /** A trust domain needs no `iss`: its keys are those of the domain in `sub`. */
  function issuerOf({ iss, sub }: JWTPayload): WorkloadIssuer | undefined {
    const domain = trustDomainOf(sub)
    return (domain === undefined ? undefined : issuers.get(domain)) ?? issuers.get(typeof iss === 'string' ? iss : '')
  }

  async function verified(jwt: string, issuer: WorkloadIssuer, kit: Kit): Promise<Verification> {
    const rules = {
      ...(issuer.platform !== 'spiffe' && { issuer: issuer.issuer }),
      algorithms: [...issuer.algorithms],
      currentDate: new Date(kit.now() * 1000),
      clockTolerance,
      requiredClaims: ['sub', 'aud', 'exp'],
    }
    const keys = configured.get(issuer.issuer)
    if (keys !== undefined) return verifiedJwt(jwt, keys.find, rules)
    const published = issuer.allowPrivateAddresses ? privately : publicly
    const outcome = await published.verify(issuer.issuer, kit, ({ find }) => verifiedJwt(jwt, find, rules))
    if (outcome.reason !== 'keys_unavailable' && outcome.reason !== 'keys_address_refused') return outcome
    // Not a 401, which a workload would take for a wrong rule.
    throw kit.refuse('temporarily_unavailable', 'The service is temporarily unavailable', outcome.reason, {
      retryAfter: 5,
    })
  }

  return {
    isOwn(jwt) {
      const { payload } = unverifiedJwt(jwt, allTypes)
      return payload !== undefined && issuerOf(payload) !== undefined
    },

    async verify(jwt, client, kit, isSvid = false) {
      const { payload: claimed, typ, reason } = unverifiedJwt(jwt, allTypes)
      if (claimed === undefined) return { reason }
      const issuer = issuerOf(claimed)
      if (issuer === undefined || (isSvid && issuer.platform !== 'spiffe')) return { reason: 'issuer_unknown' }
      if (typ !== 'jwt' && !platforms[issuer.platform].types.includes(typ)) return { reason: 'typ_unsupported' }
      const outcome = await verified(jwt, issuer, kit)
      const refusal = (why: string): TokenRefusal => ({ reason: why, detail: hints[why]?.(issuer) })
      if (outcome.payload === undefined) return refusal(outcome.reason)
      const token = outcome.payload as VerifiedToken
      const rule = client?.workload
      const context = { now: kit.now(), issuer: kit.issuer, clockTolerance, ...(rule !== undefined && { rule }) }
      const problem = problemWith(token, issuer, context)
      if (problem !== undefined) return refusal(problem)
      if (rule === undefined) return { reason: 'rule_missing' }
      if (rule.issuer !== issuer.issuer) return { reason: 'issuer_not_allowed' }
      const claim = mismatchIn(token, rule)
      if (claim !== undefined)
        return { reason: 'claim_mismatch', detail: `the rule of the client does not allow the value of ${claim}` }
      if (!issuer.singleUse) return true
      // Comes last, so that only a workload of the client can fill the storage.
      const { id, expiresAt } = singleUseOf(issuer.issuer, token.jti ?? '', token.exp, clockTolerance)
      return (await kit.records.insert(id, true, expiresAt, keptRecord)) || { reason: 'replayed' }
    },
  }
}
