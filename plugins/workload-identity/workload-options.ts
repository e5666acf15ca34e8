import { configurationObject, type OptionsOf } from '@grantry/core'
import * as v from 'valibot'
import { seconds } from '../shared/config-schema.ts'
import { fetchedUriProblem } from '../shared/fetched-uri.ts'
import { jwksUriSettingsSchema } from '../shared/jwks-settings.ts'
import { jwksSchema } from '../shared/key-set.ts'
import { algorithmsSchema } from '../shared/verify-jwt.ts'
import { type PlatformName, platforms, trustDomainOf } from './platforms.ts'

const names = Object.keys(platforms) as readonly PlatformName[]
const text = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'), v.maxLength(2000))

const issuerSchema = configurationObject({
  /** The system that issues the tokens. It determines what a rule of a client must contain. */
  platform: v.picklist(names, `must be one of ${names.join(', ')}`),
  /**
   * The `iss` of the tokens, compared character by character; for `spiffe`, `spiffe://` and the trust domain. Default
   * for `github` and `gitlab`: the issuers of github.com and gitlab.com.
   */
  issuer: v.optional(text),
  /** Its public keys; for `spiffe`, its bundle. */
  jwks: v.optional(jwksSchema),
  /** The URL of its public keys, or of its bundle. Default: what its discovery document names. */
  jwksUri: v.optional(text),
  algorithms: algorithmsSchema,
  /**
   * The only accepted value of `aud`, unless the rule of the client names another one. Default: the issuer of this
   * provider.
   */
  audience: v.optional(text),
  /** Seconds from now to the latest `exp`, and from the earliest `iat` to now. */
  maxLifetime: v.optional(seconds(10, 86_400), 3600),
  /** Whether a token authenticates once, which needs `jti`. Default: for `github` and `gitlab`. */
  singleUse: v.optional(v.boolean('must be true or false')),
  /** Allows addresses of the local network for the URLs of this issuer. */
  allowPrivateAddresses: v.optional(v.boolean('must be true or false'), false),
})

const { allowPrivateAddresses: _, ...fetchEntries } = jwksUriSettingsSchema.entries

export const workloadIdentitySchema = configurationObject({
  issuers: v.pipe(
    v.array(issuerSchema, 'must be an array of issuers'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(100, 'must have at most 100 issuers'),
  ),
  /** Whether the JWT bearer grant accepts the tokens too, from public clients with a rule (MCP SEP-1933). */
  grant: v.optional(v.boolean('must be true or false'), false),
  /** Seconds of clock skew that are allowed for `exp`, `nbf` and `iat`. */
  clockTolerance: v.optional(seconds(0, 60), 10),
  /** How keys and discovery documents are fetched. */
  jwksUri: v.optional(configurationObject(fetchEntries), {}),
})

export type WorkloadIdentityOptions = OptionsOf<typeof workloadIdentitySchema>
export type Settings = v.InferOutput<typeof workloadIdentitySchema>

/** An issuer with the defaults of its platform. */
export type WorkloadIssuer = Omit<Settings['issuers'][number], 'issuer' | 'singleUse'> & {
  readonly issuer: string
  readonly singleUse: boolean
}

/** Returns what is wrong with an issuer, as its member and the problem. */
function problemOf({ platform, issuer, jwks, jwksUri, audience, allowPrivateAddresses }: WorkloadIssuer) {
  const isSpiffe = platform === 'spiffe'
  if (isSpiffe && trustDomainOf(`${issuer}/x`) !== issuer) return '.issuer must be spiffe:// and a trust domain'
  if (jwks !== undefined && jwksUri !== undefined) return ' has both jwks and jwksUri; remove one of them'
  if (isSpiffe && (jwks ?? jwksUri) === undefined)
    return ' needs jwks or jwksUri: a trust domain has no discovery document'
  if (isSpiffe && jwks !== undefined && !jwks.keys.some(({ use }) => use === 'jwt-svid')) {
    return '.jwks must have a key with "use": "jwt-svid"'
  }
  if (audience === issuer) return '.audience must not be the issuer itself: its own services accept such tokens'
  const fetched = jwks === undefined ? (jwksUri ?? issuer) : undefined
  const problem = fetched === undefined ? undefined : fetchedUriProblem(fetched, { allowPrivateAddresses })
  return problem === undefined ? undefined : `.${jwksUri === undefined ? 'issuer' : 'jwksUri'} ${problem}`
}

/** @throws TypeError when an issuer has no name or no keys, or two have the same name. */
export function workloadIssuersOf({ issuers }: Settings): ReadonlyMap<string, WorkloadIssuer> {
  const known = new Map<string, WorkloadIssuer>()
  for (const [index, settings] of issuers.entries()) {
    const where = `workloadIdentity(): issuers[${index}]`
    const platform = platforms[settings.platform]
    const { issuer = 'issuer' in platform ? platform.issuer : undefined, singleUse = platform.singleUse } = settings
    if (issuer === undefined) throw new TypeError(`${where}.issuer is required`)
    const complete = { ...settings, issuer, singleUse }
    const problem = problemOf(complete)
    if (problem !== undefined) throw new TypeError(`${where}${problem}`)
    if (known.has(issuer)) {
      throw new TypeError(`${where}.issuer is the same as an earlier one: nothing would distinguish the tokens of both`)
    }
    known.set(issuer, complete)
  }
  return known
}
