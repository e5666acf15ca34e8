import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import { scopeName } from '../directory/scope.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Grant } from '../parts/grant.ts'
import type { Registry } from '../parts/registry.ts'
import { type CheckedResult, refusalOf } from './result.ts'

/** What decides about the scopes of a client. */
type ScopedClient = Pick<Client, 'scopes'> & Partial<Pick<Client, 'refreshToken'>>

/** Decides which scopes a request can get. Every way to a token uses it: all grants, and the login page. */
export interface ScopePolicy {
  /**
   * Returns the scopes that a token request asks for. Either all of them are valid, or the request is refused.
   *
   * @throws OAuthError `invalid_scope` when a scope is malformed, or, unless it is one of another server, unknown, disabled
   * or not allowed for the client, or when a required scope is missing.
   */
  requested(value: string | undefined, grant: Pick<Grant, 'scope'>, client: ScopedClient): readonly string[]
  /** Returns those of the scopes that the client may request, without duplicates. */
  available(scopes: readonly string[], client: Client): readonly string[]
  /**
   * Returns the scopes that an authorization request can get: without any, those that are asked for by default. Ignores those that are unknown or not allowed for the
   * client, and `offline_access` of a client that cannot use a refresh token, unless the policy is to refuse them. `openid`
   * is never ignored: without it, the response is one of another protocol. Adds `offline_access` for a client that gets it
   * without asking (`refreshToken.unasked`): the user sees it, and can refuse it.
   *
   * @throws OAuthError `invalid_scope` when a scope is malformed, or when none is left.
   * @see OpenID Connect Core sections 3.1.2.1 and 11
   */
  proposed(value: string | undefined, client: ScopedClient & Pick<Client, 'grantTypes'>): readonly string[]
  /**
   * Returns the distinct scopes of an authorization that a user has decided about.
   *
   * @throws OAuthError `invalid_scope` when a scope is unknown, disabled or not allowed for the client, or when there is
   * none.
   */
  authorized(scopes: readonly string[], client: Client): readonly string[]
  /**
   * Checks that a grant returned no scope beyond the request, the stored grant, or the client, and no scope that needs a
   * user without a subject.
   *
   * @throws OAuthError `invalid_scope`; `invalid_grant` when the client has lost a scope of the stored grant.
   */
  assertGranted(result: CheckedResult, requested: readonly string[], grant: Grant, client: Client): void
}

const maxScopeLength = 1000

const invalidScope = (reason: string, text = 'The scope is not valid'): OAuthError =>
  new OAuthError('invalid_scope', text, { reason })

/** Splits a `scope` value into its distinct words, in order. Leading, trailing and repeated spaces are ignored. */
export const wordsOfScope = (value: string): string[] => [...new Set(value.split(' ').filter((word) => word !== ''))]

/**
 * Parses a `scope` value: splits at spaces and removes duplicates. Other white space is malformed.
 *
 * @throws OAuthError `invalid_scope` when the value is longer than 1000 characters or a scope is malformed.
 * @see RFC 6749 section 3.3; wire contract, section 3
 */
export function parseScope(value: string): readonly string[] {
  if (value.length > maxScopeLength) throw invalidScope('scope_too_long')
  const names = wordsOfScope(value)
  if (!names.every((name) => scopeName.test(name))) throw invalidScope('scope_malformed')
  return names
}

/** The scope that asks for a refresh token (OpenID Connect Core section 11). */
const offlineAccess = 'offline_access'

/** Whether these scopes allow a refresh token. */
export const allowsRefreshToken = (scopes: readonly string[]): boolean => scopes.includes(offlineAccess)

/** Whether the client may have `offline_access`: also if its operator lets it have that without asking. */
export const mayHaveRefreshToken = ({ scopes, refreshToken }: ScopedClient): boolean =>
  allowsRefreshToken(scopes) || (refreshToken?.unasked ?? 'never') !== 'never'

/** Whether these scopes allow an identity token (OpenID Connect Core section 3.1.2.1). */
export const allowsIdentityToken = (scopes: readonly string[]): boolean => scopes.includes('openid')

/** Whether an authorization of these scopes is to last, although the client has not asked for that. */
const isUnasked = (scopes: readonly string[], { refreshToken }: ScopedClient): boolean =>
  refreshToken?.unasked === 'always' || (refreshToken?.unasked === 'without_openid' && !allowsIdentityToken(scopes))

/**
 * Whether a client can get an identity token: it may have `openid`, and use a grant with a user. Clients of a client
 * store, and of plugins, are assumed to be allowed every scope and grant type.
 *
 * @param clients those of the host
 */
export function canIssueIdentityTokens(
  clients: Pick<ClientDirectory, 'all' | 'hasUnlisted'>,
  scopes: ScopeDirectory,
  registry: Pick<Registry, 'grants' | 'withClientSources' | 'scopeSources'>,
): boolean {
  const canChange = registry.scopeSources !== undefined
  const names = scopes.all.flatMap(({ name, enabled }) => (enabled || canChange ? [name] : []))
  const hasUser = (grantTypes: Iterable<string>): boolean =>
    [...grantTypes].some((grantType) => registry.grants.get(grantType)?.withoutUser !== true)
  if (!allowsIdentityToken(names) || !hasUser(registry.grants.keys())) return false
  return (
    clients.hasUnlisted ||
    registry.withClientSources !== undefined ||
    clients.all.some((client) => client.enabled && allowsIdentityToken(client.scopes) && hasUser(client.grantTypes))
  )
}

/**
 * The scopes of the authorization behind a result. RFC 6749 section 6: a narrowed request narrows its access token, not
 * the refresh token.
 */
export const authorizedScopes = ({ stored, scopes }: CheckedResult): readonly string[] =>
  stored?.record?.scopes ?? scopes

/** Whether a client can use refresh tokens: a plugin redeems them, and the client may use its grant type. */
export const canRefresh = ({ grantTypes }: Pick<Client, 'grantTypes'>, registry: Registry): boolean =>
  grantTypes.includes(registry.redeemerOf('refresh')?.grantType ?? '')

/** @param unavailable what happens to scopes of authorization requests that the client cannot get */
export function createScopePolicy(
  directory: ScopeDirectory,
  registry: Registry,
  unavailable: 'ignore' | 'refuse',
): ScopePolicy {
  /** Returns why the client cannot get the scope, or `undefined` if it can. */
  function problemWith(name: string, client: ScopedClient): 'scope_unknown' | 'scope_not_allowed' | undefined {
    if (!directory.find(name)?.enabled) return 'scope_unknown'
    const isAllowed = allowsRefreshToken([name]) ? mayHaveRefreshToken(client) : client.scopes.includes(name)
    return isAllowed ? undefined : 'scope_not_allowed'
  }

  function assertAllowed(names: readonly string[], client: ScopedClient): void {
    for (const name of names) {
      const problem = problemWith(name, client)
      if (problem !== undefined) throw invalidScope(problem)
    }
  }

  const defaults = directory.all.flatMap((scope) => (scope.enabled && scope.default ? [scope.name] : []))

  const needsSubject = (name: string): boolean => directory.find(name)?.identity === true || allowsRefreshToken([name])

  return {
    requested(value, grant, client) {
      const rule = grant.scope ?? 'required'
      if (rule === 'ignored') return []
      const names = value === undefined ? [] : parseScope(value)
      if (names.length === 0 && rule === 'required') {
        throw invalidScope('scope_missing', 'The scope parameter is missing')
      }
      if (rule !== 'foreign') assertAllowed(names, client)
      return names
    },

    proposed(value, client) {
      const isUsable = (name: string): boolean =>
        problemWith(name, client) === undefined && (!allowsRefreshToken([name]) || canRefresh(client, registry))
      const asked = value === undefined ? [] : parseScope(value)
      const names = asked.length === 0 ? defaults.filter(isUsable) : asked
      if (names.length === 0) throw invalidScope('scope_missing', 'The scope parameter is missing')
      const usable = names.filter(isUsable)
      const mustRefuse = unavailable === 'refuse' || usable.length === 0
      const refused = names.filter((name) => !usable.includes(name) && (mustRefuse || allowsIdentityToken([name])))
      assertAllowed(refused, client)
      if (refused.length > 0) throw invalidScope('scope_not_allowed')
      const isAdded = !allowsRefreshToken(usable) && isUsable(offlineAccess) && isUnasked(usable, client)
      return isAdded ? [...usable, offlineAccess] : usable
    },

    available: (scopes, client) => [...new Set(scopes)].filter((name) => problemWith(name, client) === undefined),

    authorized(scopes, client) {
      const names = [...new Set(scopes)]
      if (names.length === 0) throw invalidScope('scope_missing', 'The scope is missing')
      assertAllowed(names, client)
      return names
    },

    assertGranted({ scopes, stored, lineage, source, subject }, requested, grant, client) {
      const record = stored?.record
      const grantedAt = source?.record?.familyStartedAt
      if (grantedAt !== undefined && directory.lasting(scopes, grantedAt).length < scopes.length) {
        throw refusalOf(grant, 'scope_lost')
      }
      // Without a requested scope, the stored scopes are the limit. The grant knows those of a token that it continues.
      const hasOrigin = record !== undefined || lineage !== undefined
      const isUnbound = grant.scope === 'ignored' || (hasOrigin && requested.length === 0)
      for (const name of scopes) {
        const problem = problemWith(name, client)
        if (problem !== undefined) throw record === undefined ? invalidScope(problem) : refusalOf(grant, 'scope_lost')
        const isEscalation = record?.scopes.includes(name) === false || !(isUnbound || requested.includes(name))
        if (isEscalation) throw invalidScope('scope_escalation')
        if (subject === undefined && needsSubject(name)) throw invalidScope('scope_needs_subject')
      }
    },
  }
}
