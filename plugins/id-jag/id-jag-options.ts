import {
  type Client,
  configurationObject,
  type Json,
  type MaybePromise,
  type OptionsOf,
  parseUrl,
  type Subject,
} from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, wholeSeconds } from '../shared/config-schema.ts'
import { issuerEntries, trustedIssuersEntries } from '../shared/trusted-issuers.ts'
import type { IdJagClaims } from './id-jag-claims.ts'

const text = v.pipe(v.string('must be a string'), v.minLength(1, 'must not be empty'))
const texts = v.pipe(v.array(text, 'must be an array of strings'), v.minLength(1, 'must not be empty'))
const url = v.pipe(
  v.string('must be a URL'),
  v.maxLength(2000, 'must have at most 2000 characters'),
  v.check((link) => /^https?:$/u.test(parseUrl(link)?.protocol ?? ''), 'must be a URL'),
)

const { audience, requireJti, issuer, ...trusted } = issuerEntries

const identityProviderSchema = configurationObject({
  /** The `iss` of its assertions, compared character by character. */
  issuer,
  ...trusted,
  /**
   * How `sub` becomes a user. `derived`: a hash of `iss`, `tenant` and `sub`, which no other user can have. `same`: the
   * users of the identity provider are your users, so it can name any of them.
   */
  subject: v.optional(v.picklist(['derived', 'same'], 'must be "derived" or "same"'), 'derived'),
  /** The values of `tenant`, if the issuer has several tenants. Default: assertions with a tenant are refused. */
  tenants: v.optional(texts),
  /** The scopes that its assertions can give, and those of an assertion without `scope`. Default: any, and none. */
  scopes: v.optional(texts),
})

/** Identity providers whose assertions are accepted. */
const acceptSchema = configurationObject({
  ...trustedIssuersEntries,
  issuers: v.pipe(v.array(identityProviderSchema, 'must be an array of issuers'), v.minLength(1, 'must not be empty')),
  /** Whether an assertion without `resource` is refused, as MCP demands. */
  requireResource: v.optional(v.boolean('must be true or false'), true),
  /** Maps an assertion to a user. Returns `undefined` to refuse it. Default: as `subject` of the issuer says. */
  subject: functionSchema<(claims: IdJagClaims, client: Client) => MaybePromise<Subject | undefined>>(),
})

const issuedClientSchema = configurationObject({
  /** The id of the client at this provider. */
  clientId: text,
  /** The id of the client at the other server. Default: the same. */
  as: v.optional(text),
  /** The scopes of the other server that the client can get for users. */
  scopes: texts,
})

const serverSchema = configurationObject({
  /** The issuer of the authorization server, as it is in its metadata. */
  issuer: url,
  /** The resources that it protects, such as MCP servers. */
  resources: v.pipe(v.array(url, 'must be an array of URLs'), v.minLength(1, 'must not be empty')),
  /** The clients that can get assertions for it. */
  clients: v.pipe(v.array(issuedClientSchema, 'must be an array of clients'), v.minLength(1, 'must not be empty')),
  /** The authentication contexts of which the sign-in must have reached one. */
  acrValues: v.optional(texts),
  /** Seconds since the last authentication of the user. */
  maxAge: v.optional(wholeSeconds(1, 31_536_000)),
})

/** The request that a policy decides about. */
export interface IdJagRequest {
  readonly client: Client
  readonly subject: Subject
  /** The issuer of the other server. */
  readonly audience: string
  readonly resources: readonly string[]
  /** The scopes that the client would get. */
  readonly scopes: readonly string[]
}

/** The decision of a policy that allows a request. */
export interface IdJagDecision {
  /** At most these scopes. Default: those of the request. */
  readonly scopes?: readonly string[] | undefined
  /** Additional claims, such as `email` or `aud_sub`. */
  readonly claims?: Readonly<Record<string, Json>> | undefined
}

/** Authorization servers for which assertions are issued. */
const issueSchema = configurationObject({
  servers: v.pipe(v.array(serverSchema, 'must be an array of servers'), v.minLength(1, 'must not be empty')),
  /** Seconds until an assertion expires. */
  lifetime: v.optional(wholeSeconds(30, 3600), 300),
  /**
   * Whether an identity token with `sid` is refused after the session has ended. `false` for sessions that are not those
   * of the plugin `authorization-endpoint`.
   */
  checkSessions: v.optional(v.boolean('must be true or false'), true),
  /** Decides for each user. Default: allows what `servers` allows. */
  allow: functionSchema<(request: IdJagRequest) => MaybePromise<boolean | IdJagDecision | undefined>>(),
})

export const idJagSchema = configurationObject({
  /** Accepts assertions of identity providers, as the authorization server of a resource. */
  accept: v.optional(acceptSchema),
  /** Issues assertions for other authorization servers, as an identity provider. */
  issue: v.optional(issueSchema),
})

export type IdJagOptions = OptionsOf<typeof idJagSchema>
export type AcceptSettings = v.InferOutput<typeof acceptSchema>
export type IssueSettings = v.InferOutput<typeof issueSchema>
