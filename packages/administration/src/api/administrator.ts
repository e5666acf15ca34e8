import type { Kit, TokenCaller } from '@grantry/core'
import type { Operation } from './operation.ts'

/** The scope for everything. */
export const adminScope = 'admin'
/** The scope for GET. */
export const readScope = 'admin:read'

/** Who administrates, by the configuration. */
export interface Administrators {
  readonly clients: ReadonlySet<string>
  readonly subs: ReadonlySet<string>
}

/** @throws OAuthError 403 unless the bearer of the token may use the operation. */
export function assertAdministrator(
  { client, sub, scopes }: TokenCaller,
  { method }: Pick<Operation, 'method'>,
  administrators: Administrators,
  kit: Pick<Kit, 'refuse'>,
): void {
  if (!administrators.clients.has(client.clientId) || (sub !== undefined && !administrators.subs.has(sub))) {
    throw kit.refuse('not_administrator', 'The caller is not an administrator', 'not_administrator')
  }
  if (method === 'GET' || scopes.includes(adminScope)) return
  throw kit.refuse('insufficient_scope', `The access token must have the scope ${adminScope}`, 'scope_missing', {
    scope: adminScope,
  })
}

/**
 * Refuses to change the clients and users that administrate: one administrator could act in the name of another, or keep
 * the rights that the configuration takes away.
 *
 * @throws OAuthError 409
 */
export function assertNotAdministrator(
  id: string | undefined,
  { protects }: Pick<Operation, 'protects'>,
  administrators: Administrators,
  kit: Pick<Kit, 'refuse'>,
): void {
  const protectedIds = protects === 'clients' ? administrators.clients : administrators.subs
  if (protects === undefined || id === undefined || !protectedIds.has(id)) return
  const message = `${id} administrates, by the configuration; change it there, or by command`
  throw kit.refuse('invalid_request', message, 'administrator_protected', { status: 409 })
}

/** Returns who makes a change, for the audit trail. The ids are encoded, so that none can imitate another caller. */
export const nameOf = ({ client, sub }: Pick<TokenCaller, 'client' | 'sub'>): string =>
  `client:${encodeURIComponent(client.clientId)}${sub === undefined ? '' : ` user:${encodeURIComponent(sub)}`}`
