import { certificateProblem, type FindCertificate } from './certificate.ts'
import type { Context } from './context.ts'
import type { Credentials } from './credentials.ts'
import type { Dpop, DpopProof } from './dpop/dpop.ts'
import type { PresentedRequest } from './presented-request.ts'
import { isRefused, type Refused, refused } from './refusal.ts'
import type { Claims } from './token-claims.ts'

/** The binding that tokens must have: to a key (`dpop`), to a certificate, or to any of them. */
export type RequiredBinding = 'dpop' | 'certificate' | 'any'

/** The keys that a token is bound to. */
interface Confirmation {
  readonly thumbprint?: string | undefined
  readonly certificate?: string | undefined
}

/** Whether a token needs no proof of a key. */
export const isUnbound = ({ cnf, token_type: type }: Claims): boolean =>
  cnf === undefined && String(type).toLowerCase() !== 'dpop'

/** RFC 7800 section 3.1: a token must be refused if a member of `cnf` is not understood. */
function confirmationOf(claims: Claims): Confirmation | Refused {
  if (isUnbound(claims)) return {}
  const { cnf } = claims
  if (typeof cnf !== 'object' || cnf === null) return refused('binding_unknown')
  const members = Object.entries(cnf)
  const areKnown = members.every(
    ([name, value]) => (name === 'jkt' || name === 'x5t#S256') && typeof value === 'string' && value !== '',
  )
  if (members.length === 0 || !areKnown) return refused('binding_unknown')
  const { jkt: thumbprint, 'x5t#S256': certificate } = cnf as { readonly jkt?: string; readonly 'x5t#S256'?: string }
  return { thumbprint, certificate }
}

function isSufficient({ thumbprint, certificate }: Confirmation, required: RequiredBinding | undefined): boolean {
  if (required === undefined) return true
  if (required === 'any') return thumbprint !== undefined || certificate !== undefined
  return (required === 'dpop' ? thumbprint : certificate) !== undefined
}

/** How a request proves the keys of its token. */
interface Proofs {
  readonly dpop: Dpop | undefined
  readonly findCertificate: FindCertificate | undefined
  readonly required: RequiredBinding | undefined
}

const unbound: DpopProof = { headers: {}, spend: async () => undefined }

/** Checks that the sender of a request has proved every key that its token is bound to. */
export type CheckBinding = (
  request: PresentedRequest,
  credentials: Credentials,
  claims: Claims,
) => Promise<DpopProof | Refused>

export const createCheckBinding =
  ({ dpop, findCertificate, required }: Proofs, { timeout }: Context): CheckBinding =>
  async (request, { scheme, token }, claims) => {
    const confirmation = confirmationOf(claims)
    if (isRefused(confirmation)) return confirmation
    const { thumbprint, certificate } = confirmation
    // RFC 9449 sections 7.1 and 7.2: a thief must not be able to omit the proof.
    if ((scheme === 'DPoP') !== (thumbprint !== undefined)) return refused('scheme_mismatch')
    if (!isSufficient(confirmation, required)) return refused('binding_missing')
    if (certificate !== undefined) {
      if (findCertificate === undefined) return refused('binding_not_supported')
      const problem = await certificateProblem(findCertificate, request, certificate, timeout)
      if (problem !== undefined) return problem
    }
    if (thumbprint === undefined) return unbound
    return dpop === undefined ? refused('binding_not_supported') : dpop.check(request, token, thumbprint)
  }
