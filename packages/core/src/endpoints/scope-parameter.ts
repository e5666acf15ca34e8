import type { Client } from '../directory/client.ts'
import { scopeName } from '../directory/scope.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Grant } from '../plugin/grant.ts'

const longestScope = 1000

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
  if (value.length > longestScope) throw invalidScope('scope_too_long')
  const names = wordsOfScope(value)
  if (!names.every((name) => scopeName.test(name))) throw invalidScope('scope_malformed')
  return names
}

/**
 * Returns the requested scopes. Either all of them are valid, or the request is refused.
 *
 * @throws OAuthError `invalid_scope` when a scope is malformed, unknown, disabled or not allowed for the client, or
 * when a required scope is missing.
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
