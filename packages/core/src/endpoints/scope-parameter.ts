import type { Client } from '../directory/client.ts'
import { scopeName } from '../directory/scope.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Grant } from '../plugin/grant.ts'

const longestScope = 1000

const invalidScope = (reason: string): OAuthError =>
  new OAuthError('invalid_scope', 'The scope is not valid', { reason })

/**
 * The scopes that a request asks for: split at single spaces, duplicates dropped, all or nothing.
 *
 * @throws OAuthError `invalid_scope` when one is malformed, unknown, disabled or not allowed to the client.
 * @see RFC 6749 section 3.3; wire contract, section 3
 */
export function parseScope(value: string): readonly string[] {
  if (value.length > longestScope) throw invalidScope('scope_too_long')
  const names = value.split(' ')
  if (!names.every((name) => scopeName.test(name))) throw invalidScope('scope_malformed')
  return [...new Set(names)]
}

export function requestedScopes(
  value: string | undefined,
  grant: Grant,
  client: Client,
  directory: ScopeDirectory,
): readonly string[] {
  const rule = grant.scope ?? 'required'
  if (rule === 'ignored') return []
  if (value === undefined) {
    if (rule === 'required') throw invalidScope('scope_missing')
    return []
  }
  const names = parseScope(value)
  for (const name of names) {
    const scope = directory.find(name)
    if (!scope?.enabled) throw invalidScope('scope_unknown')
    if (!client.scopes.includes(name)) throw invalidScope('scope_not_allowed')
  }
  return names
}
