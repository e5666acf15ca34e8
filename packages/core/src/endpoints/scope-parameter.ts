import type { Client } from '../directory/client.ts'
import { scopeName } from '../directory/scope.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Grant } from '../plugin/grant.ts'

const longestScope = 1000

const invalidScope = (reason: string, text = 'The scope is not valid'): OAuthError =>
  new OAuthError('invalid_scope', text, { reason })

/** The distinct words of a `scope` value in their order. Spaces around and between them carry no meaning. */
export const wordsOfScope = (value: string): string[] => [...new Set(value.split(' ').filter((word) => word !== ''))]

/**
 * The scopes that a `scope` value names: split at spaces, without duplicates. Other white space is malformed.
 *
 * @throws OAuthError `invalid_scope` when the value is longer than 1000 characters or one scope is malformed.
 * @see RFC 6749 section 3.3; wire contract, section 3
 */
export function parseScope(value: string): readonly string[] {
  if (value.length > longestScope) throw invalidScope('scope_too_long')
  const names = wordsOfScope(value)
  if (!names.every((name) => scopeName.test(name))) throw invalidScope('scope_malformed')
  return names
}

/**
 * The scopes that a request asks for, all or nothing.
 *
 * @throws OAuthError `invalid_scope` when one is malformed, unknown, disabled or not allowed to the client, or when a required scope is missing.
 */
export function requestedScopes(
  value: string | undefined,
  grant: Grant,
  client: Client,
  directory: ScopeDirectory,
): readonly string[] {
  const rule = grant.scope ?? 'required'
  if (rule === 'ignored') return []
  const names = value === undefined ? [] : parseScope(value)
  if (names.length === 0 && rule === 'required') throw invalidScope('scope_missing', 'The scope parameter is missing')
  for (const name of names) {
    const scope = directory.find(name)
    if (!scope?.enabled) throw invalidScope('scope_unknown')
    if (!client.scopes.includes(name)) throw invalidScope('scope_not_allowed')
  }
  return names
}
