import type { Kit } from '@grantry/core'
import * as v from 'valibot'
import { fetchedUriProblem } from './fetched-uri.ts'
import type { JwksUriSettings } from './jwks-settings.ts'
import { createPublishedKeys } from './jwks-uri.ts'
import { jwksSchema, keySetOf } from './key-set.ts'
import { algorithmsSchema, type Verification, verifiedJwt } from './verify-jwt.ts'

/** The members of an issuer of JWTs for its name and its keys. */
export const issuerKeyEntries = {
  /** The `iss` of its JWTs, compared character by character. */
  issuer: v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty')),
  /** Its public keys. */
  jwks: v.optional(jwksSchema),
  /** The URL at which it publishes its public keys, instead of `jwks`. */
  jwksUri: v.optional(v.string('must be a URL')),
  algorithms: algorithmsSchema,
}

const issuerSchema = v.object(issuerKeyEntries)

type ConfiguredIssuer = Readonly<v.InferOutput<typeof issuerSchema>>

/** Issuers of the configuration, with their keys. */
export interface ConfiguredIssuers<I extends ConfiguredIssuer> {
  find(name: string | undefined): I | undefined
  /**
   * Verifies the signature, `iss`, `exp` and `nbf` of a JWT, and that it has the required claims.
   *
   * @throws OAuthError `temporarily_unavailable` if too many requests wait for keys already
   */
  verify(jwt: string, issuer: I, kit: Pick<Kit, 'now' | 'refuse'>): Promise<Verification>
}

interface IssuerSettings<I> {
  readonly issuers: readonly I[]
  readonly jwksUri: JwksUriSettings
  /** Seconds of clock skew that are allowed. */
  readonly clockTolerance: number
}

/** @throws TypeError when an issuer has not exactly one source of keys, or two have the same name. */
function assertIssuers({ issuers, jwksUri }: IssuerSettings<ConfiguredIssuer>, what: string): void {
  for (const [index, { issuer, jwks, jwksUri: uri }] of issuers.entries()) {
    const where = `${what}issuers[${index}]`
    if ((jwks === undefined) === (uri === undefined)) throw new TypeError(`${where} must have either jwks or jwksUri`)
    if (issuers.findIndex((earlier) => earlier.issuer === issuer) < index) {
      throw new TypeError(`${where}.issuer is the same as an earlier one`)
    }
    const problem = uri === undefined ? undefined : fetchedUriProblem(uri, jwksUri)
    if (problem !== undefined) throw new TypeError(`${where}.jwksUri ${problem}`)
  }
}

/**
 * @param what the plugin and the place of the settings, for errors
 * @throws TypeError for a mistake in the settings
 */
export function createConfiguredIssuers<I extends ConfiguredIssuer>(
  settings: IssuerSettings<I>,
  what: string,
  requiredClaims: string[] = [],
): ConfiguredIssuers<I> {
  assertIssuers(settings, what)
  const { issuers, clockTolerance } = settings
  const published = createPublishedKeys(settings.jwksUri)
  const known = new Map(
    issuers.map((issuer) => [issuer.issuer, { issuer, keys: issuer.jwks && keySetOf(issuer.jwks) }]),
  )

  return {
    find: (name) => (name === undefined ? undefined : known.get(name)?.issuer),
    verify(jwt, { issuer, algorithms, jwksUri = '' }, kit) {
      const rules = {
        issuer,
        algorithms: [...algorithms],
        currentDate: new Date(kit.now() * 1000),
        clockTolerance,
        requiredClaims,
      }
      const keys = known.get(issuer)?.keys
      if (keys !== undefined) return verifiedJwt(jwt, keys, rules)
      return published.verify(jwksUri, kit, ({ find }) => verifiedJwt(jwt, find, rules))
    },
  }
}
