import type { EndpointRequest, Kit, TokenCaller } from '@grantry/core'
import type { Operation } from './operation.ts'

/** The scope for everything. */
export const adminScope = 'admin'
/** The scope for GET. */
export const readScope = 'admin:read'

/** The clients and users that administrate, from the configuration. */
export interface Administrators {
  readonly clients: ReadonlySet<string>
  readonly subs: ReadonlySet<string>
}

/**
 * Refuses a token in the URL beside the one in the header. URLs are in logs, so the client must learn of the mistake.
 *
 * @throws OAuthError 400
 * @see RFC 6750 section 3.1: more than one method; RFC 9700 section 4.3.2
 */
export function assertNoTokenInUrl({ url }: Pick<EndpointRequest, 'url'>, kit: Pick<Kit, 'refuse'>): void {
  if (!new URL(url).searchParams.has('access_token')) return
  throw kit.refuse(
    'invalid_request',
    'An access token in the URL is refused; send it in the header only',
    'token_in_url',
  )
}

/** @throws OAuthError 403 unless the configuration names the client and, if the token has one, the user */
export function assertAdministrator(
  { client, sub }: TokenCaller,
  administrators: Administrators,
  kit: Pick<Kit, 'refuse'>,
): void {
  if (administrators.clients.has(client.clientId) && (sub === undefined || administrators.subs.has(sub))) return
  throw kit.refuse('not_administrator', 'The caller is not an administrator', 'not_administrator')
}

/** @throws OAuthError 403 unless the token has the scope of the operation */
export function assertScope(
  { scopes }: TokenCaller,
  { method }: Pick<Operation, 'method'>,
  kit: Pick<Kit, 'refuse'>,
): void {
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
  [first]: readonly string[],
  params: unknown,
  { protects }: Pick<Operation, 'protects'>,
  administrators: Administrators,
  kit: Pick<Kit, 'refuse'>,
): void {
  if (protects === undefined) return
  const { clientId, sub } = Object(params)
  const [named, protectedIds] = protects === 'clients' ? [clientId, administrators.clients] : [sub, administrators.subs]
  const id: unknown = first ?? named
  if (typeof id !== 'string' || !protectedIds.has(id)) return
  const message = `${id} administrates, by the configuration; change it there, or by command`
  throw kit.refuse('invalid_request', message, 'administrator_protected', { status: 409 })
}

/** Returns who makes a change, for the audit trail. The ids are encoded, so that none can imitate another caller. */
export const nameOf = ({ client, sub }: Pick<TokenCaller, 'client' | 'sub'>): string =>
  `client:${encodeURIComponent(client.clientId)}${sub === undefined ? '' : ` user:${encodeURIComponent(sub)}`}`
