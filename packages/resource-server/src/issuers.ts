import { assertMembers, text } from './option-checks.ts'
import type { Claims } from './token-claims.ts'

/** Many issuers that differ in one part of `iss`, such as the tenants of Microsoft Entra ID. */
export interface IssuerPattern {
  /**
   * The `iss` of the tokens with one placeholder in braces, such as
   * `https://login.microsoftonline.com/{tenantid}/v2.0`.
   */
  readonly pattern: string
  /** The claim that has the value of the placeholder, such as `tid`. */
  readonly claim: string
  /**
   * Whether this API accepts tokens of this issuer. Without it, each tenant in the world could issue them. The time limit
   * is `timeout`; the request gets 503 if it fails.
   */
  readonly accepts: (value: string, claims: Claims) => boolean | Promise<boolean>
}

/** The issuers of a resource server. */
export interface Issuers {
  /** The issuer whose metadata can be read; `undefined` for a pattern. */
  readonly single: string | undefined
  /** Whether `iss` fits, before `accepts` is asked. */
  fits(claims: Claims): boolean
  /** Whether a published key can belong to them. Issuers that share keys name the issuer of each in `issuer`. */
  ownsKey(jwk: Readonly<Record<string, unknown>>): boolean
  /** Calls `accepts` of the pattern. `true` without a pattern. */
  accept(claims: Claims): boolean | Promise<boolean>
}

const patternForm = /^(https:\/\/[^{}\s/]+\/[^{}\s]*)\{(\w{1,50})\}([^{}\s]*)$/u

/** Excludes all characters that end a part of a URL. */
const valueForm = /^[\w-]{1,100}$/u

function fromPattern(option: IssuerPattern): Issuers {
  assertMembers(option, ['pattern', 'claim', 'accepts'], 'issuer')
  const pattern = text(option.pattern, 'issuer.pattern')
  const claim = text(option.claim, 'issuer.claim')
  const { accepts } = option
  if (typeof accepts !== 'function') throw new TypeError('issuer.accepts must be a function')
  const [, before, , after] = patternForm.exec(pattern) ?? []
  if (before === undefined || after === undefined || !URL.canParse(`${before}x${after}`)) {
    throw new TypeError('issuer.pattern must be a URL with https and one placeholder in its path, such as {tenantid}')
  }
  const valueIn = (claims: Claims): string => {
    const value = claims[claim]
    return typeof value === 'string' && valueForm.test(value) ? value : ''
  }
  return {
    single: undefined,
    fits: (claims) => valueIn(claims) !== '' && claims.iss === `${before}${valueIn(claims)}${after}`,
    ownsKey: ({ issuer }) => issuer === undefined || issuer === pattern,
    accept: async (claims) => (await accepts(valueIn(claims), claims)) === true,
  }
}

/** @throws TypeError with one sentence for a mistake in the option */
export function issuersOf(option: string | IssuerPattern): Issuers {
  if (typeof option === 'object' && option !== null) return fromPattern(option)
  const single = text(option, 'issuer')
  return { single, fits: ({ iss }) => iss === single, ownsKey: () => true, accept: () => true }
}
