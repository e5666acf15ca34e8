import {
  type Client,
  configurationObject,
  defineGrant,
  definePlugin,
  type Json,
  type Kit,
  type MaybePromise,
  type OptionsOf,
  type Plugin,
  parseConfiguration,
  type Refuse,
  type Subject,
} from '@grantry/core'
import * as v from 'valibot'
import { functionSchema } from '../shared/config-schema.ts'
import { audiencesIn, resourcesIn } from '../shared/resources.ts'
import { createTrustedIssuers, type TrustedJwt, trustedIssuersEntries } from '../shared/trusted-issuers.ts'
import { actorOf, assertMayAct } from './exchange-actor.ts'
import {
  audienceOf,
  claimsOf,
  createReadPresented,
  identifierOf,
  notExchanged,
  type PresentedToken,
  type ReadToken,
  refusal,
  type TokenType,
  tokenTypeOf,
} from './presented.ts'

export type { PresentedToken, TokenType } from './presented.ts'

/** The request that a policy decides about. Its tokens are valid. */
export interface ExchangeRequest {
  readonly client: Client
  readonly subject: PresentedToken
  /** The actor token. Without one, the new token does not show who uses it: impersonation. */
  readonly actor: PresentedToken | undefined
  /** The requested scopes, which the client may use. Empty if the request has none. */
  readonly scopes: readonly string[]
  /** The values of `resource` and `audience`. */
  readonly targets: readonly string[]
}

/** The decision of a policy that allows a request. */
export interface ExchangeDecision {
  /**
   * The scopes that the new token can have. Default: those of the subject token, at its APIs. A scope that is listed and
   * belongs to several APIs can be used at all `targets`.
   */
  readonly scopes?: readonly string[] | undefined
  /** Additional claims of the new token. */
  readonly claims?: Readonly<Record<string, Json>> | undefined
}

const { issuers, ...trustedSettings } = trustedIssuersEntries

const settingsSchema = configurationObject({
  ...trustedSettings,
  /** Issuers whose JWTs are accepted as subject and actor tokens. */
  issuers: v.optional(issuers, []),
  /** Decides which exchanges are allowed. `true` allows the scopes of the subject token. Default: refuses all. */
  allow: functionSchema<(request: ExchangeRequest) => MaybePromise<boolean | ExchangeDecision | undefined>>(),
  /** Maps the subject token of another issuer to a user of this provider. Default: refuses all. */
  subject: functionSchema<(claims: TrustedJwt['claims'], client: Client) => MaybePromise<Subject | undefined>>(),
})

export type TokenExchangeOptions = OptionsOf<typeof settingsSchema>

const params = v.object({
  subject_token: v.string(),
  subject_token_type: v.string(),
  actor_token: v.optional(v.string()),
  actor_token_type: v.optional(v.string()),
  requested_token_type: v.optional(v.string()),
  resource: v.optional(v.string()),
  audience: v.optional(v.string()),
})

type Params = v.InferOutput<typeof params>

function supported(parameter: string, identifier: string, types: readonly TokenType[], refuse: Refuse): TokenType {
  const type = tokenTypeOf(identifier)
  if (type !== undefined && types.includes(type)) return type
  throw refuse('invalid_request', `The ${parameter} is not supported`, `${parameter}_unsupported`)
}

/** The types of the tokens in a request. */
function typesOf(params: Params, refuse: Refuse) {
  const { subject_token_type, actor_token, actor_token_type, requested_token_type } = params
  if ((actor_token === undefined) !== (actor_token_type === undefined)) {
    throw refuse('invalid_request', 'actor_token and actor_token_type require each other', 'actor_incomplete')
  }
  return {
    subject: supported(
      'subject_token_type',
      subject_token_type,
      ['access_token', 'refresh_token', 'id_token', 'jwt'],
      refuse,
    ),
    // A refresh token is a credential of a client, not an identity.
    actor:
      actor_token_type === undefined
        ? undefined
        : supported('actor_token_type', actor_token_type, ['access_token', 'id_token', 'jwt'], refuse),
    requested: supported(
      'requested_token_type',
      requested_token_type ?? identifierOf('access_token'),
      ['access_token', 'jwt'],
      refuse,
    ),
  }
}

const targetsIn = ({ resource, audience }: Params, refuse: Refuse): readonly string[] => [
  ...(resource === undefined ? [] : resourcesIn(resource, refuse)),
  ...(audience === undefined ? [] : audiencesIn(audience, refuse)),
]

/** Seconds until a JWT of another issuer expires. The core limits the lifetime itself for tokens of this provider. */
function lifetimeOf({ claims: { exp } }: ReadToken, kit: Kit): number {
  const lifetime = Math.floor(Number(exp) - kit.now())
  // The clock tolerance can accept a token that has just expired.
  if (lifetime < 1) throw notExchanged('expired', kit.refuse)
  return lifetime
}

function scopesOf(
  { scopes: requested, client }: Pick<ExchangeRequest, 'scopes' | 'client'>,
  subject: ReadToken,
  decision: ExchangeDecision,
  refuse: Refuse,
) {
  const limit = decision.scopes ?? subject.scopes ?? []
  const isWithin = requested.every((scope) => limit.includes(scope))
  // Without a token of this provider, there are no scopes that the request could mean.
  const isOmitted = requested.length === 0 && subject.origin !== undefined
  const scopes = isOmitted
    ? limit.filter((scope) => scope !== 'offline_access' && client.scopes.includes(scope))
    : requested
  if (isWithin && scopes.length > 0) return scopes
  throw refuse('invalid_scope', 'The scope is not valid', isWithin ? 'scope_missing' : 'scope_not_allowed')
}

/**
 * The token exchange grant: exchanges a token for another one, with fewer scopes, for another API, or for a client that
 * acts for the user. The new access token ends with the subject token, and is revoked with it.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see RFC 8693; docs/decisions/0062-token-exchange-needs-a-policy.md
 */
export function tokenExchange(options: TokenExchangeOptions = {}): Plugin {
  const settings = parseConfiguration(settingsSchema, options, 'tokenExchange()')
  const { allow = () => false, subject: subjectOf = () => undefined } = settings
  const read = createReadPresented(createTrustedIssuers(settings, 'tokenExchange()'))
  /** Returns `undefined` for a token of the client itself: the new token belongs to the same client. */
  const userOf = async (token: ReadToken, client: Client, kit: Kit): Promise<Subject | undefined> => {
    const mapped = () => subjectOf(token.claims as TrustedJwt['claims'], client)
    const user = token.type === 'jwt' ? await kit.callHost('tokenExchange.subject', mapped) : token.subject
    if (user !== undefined) return user
    if (token.type === 'jwt') throw notExchanged('subject_unknown', kit.refuse)
    if (token.hasClientSubject !== true) throw notExchanged('subject_missing', kit.refuse)
    if (token.clientId !== client.clientId) throw notExchanged('subject_of_another_client', kit.refuse)
    return undefined
  }
  const grant = defineGrant({
    grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
    params,
    refusal,
    refusalCode: 'invalid_request',
    scope: 'optional',
    async handle(request, kit) {
      const { client, params, scopes: requested } = request
      const { refuse } = kit
      const types = typesOf(params, refuse)
      // Converts targets to their registered form, so that a policy recognizes them.
      const targets = targetsIn(params, refuse).map(kit.audienceOf)
      const token = await read(params.subject_token, types.subject, kit)
      const subject = await userOf(token, client, kit)
      const by = types.actor && (await read(params.actor_token ?? '', types.actor, kit))
      // Refuses an actor token that itself has an actor: the new token could not show both chains.
      if (by?.claims.act !== undefined) throw notExchanged('actor_delegated', refuse)
      assertMayAct(token, by, client, kit)
      const actor = actorOf(token, by, refuse)
      const exchange = { client, subject: token, actor: by, scopes: requested, targets }
      const decision = await kit.callHost('tokenExchange.allow', () => allow(exchange))
      if (decision === false || decision === undefined) throw notExchanged('not_allowed', refuse)
      const allowed: ExchangeDecision = decision === true ? {} : decision
      return {
        ...(subject !== undefined && { subject }),
        scopes: scopesOf(request, token, allowed, refuse),
        issue: {
          refreshToken: false,
          ...(types.requested === 'jwt' && { accessToken: 'jwt' }),
          ...(token.origin === undefined && { lifetime: lifetimeOf(token, kit) }),
        },
        response: { issued_token_type: identifierOf(types.requested) },
        ...(targets.length > 0 && { audience: audienceOf(targets, token, allowed.scopes) }),
        ...(actor !== undefined && { actor }),
        ...claimsOf(token, allowed.claims),
        ...(token.origin !== undefined && { continuesFamilyOf: token.origin }),
      }
    },
  })
  return definePlugin('token-exchange', [grant])
}
