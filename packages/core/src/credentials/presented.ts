import { OAuthError } from '../errors/oauth-error.ts'
import type { RequestParameters } from '../http/parameters.ts'
import { fingerprintOf, hashOf } from '../records/keys.ts'
import type { Runtime } from '../runtime.ts'
import { type CredentialPair, formDecoded, parseBasic } from './basic.ts'

/** The credentials of a request: a secret in the header, a secret in the form, or only an id. */
export type Presented =
  | { readonly method: 'client_secret_basic'; readonly pair: CredentialPair }
  | { readonly method: 'client_secret_post'; readonly pair: CredentialPair }
  | { readonly method: 'none'; readonly id: string }

const maxIdLength = 100
const maxSecretLength = 512

export const invalidClient = (reason: string): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', { reason })

/** Rejects pairs that are too long, and empty secrets, even if the hash of an empty string is stored. */
const isPossible = (pair: CredentialPair): boolean => pair.secret !== '' && !isTooLong(pair)

const isTooLong = ({ id, secret }: CredentialPair): boolean =>
  id.length > maxIdLength || secret.length > maxSecretLength

/** @throws OAuthError `invalid_client` when the header does not contain Basic credentials. */
export function presentedInHeader(authorization: string): Presented {
  const pair = parseBasic(authorization)
  if (pair === undefined) throw invalidClient('malformed_authorization')
  return { method: 'client_secret_basic', pair }
}

/** @throws OAuthError `invalid_client` when the form has no `client_id`, or one that is too long. */
export function presentedInForm({ client_id: id, client_secret: secret }: RequestParameters): Presented {
  if (id === undefined) throw invalidClient('credentials_missing')
  if (id.length > maxIdLength) throw invalidClient('credentials_too_long')
  return secret === undefined ? { method: 'none', id } : { method: 'client_secret_post', pair: { id, secret } }
}

/**
 * Rejects a second authentication method (RFC 6749 section 2.3): a secret in the form besides the header, or a
 * different `client_id`. The same `client_id` without a secret is allowed.
 *
 * @throws OAuthError `invalid_request`
 */
export function refuseSecondMethod(presented: Presented, form: RequestParameters): void {
  if (presented.method !== 'client_secret_basic') return
  if (form.client_secret !== undefined) {
    throw new OAuthError('invalid_request', 'Credentials are sent both in the header and in the form', {
      reason: 'several_credentials',
    })
  }
  const { client_id: id } = form
  if (id !== undefined && id !== presented.pair.id && id !== formDecoded(presented.pair)?.id) {
    throw new OAuthError('invalid_request', 'client_id differs from the Authorization header', {
      reason: 'client_id_mismatch',
    })
  }
}

/**
 * Verifies the raw pair (the seed's rule) and, if that fails, the form-decoded pair (RFC 6749 section 2.3.1). Returns
 * the last refusal if both fail.
 */
export async function verifyPair<V extends { readonly reason?: string | undefined }>(
  presented: Extract<Presented, { pair: CredentialPair }>,
  verify: (pair: CredentialPair) => Promise<V>,
): Promise<V | { readonly reason: string; readonly client?: undefined; readonly scope?: undefined }> {
  const { pair } = presented
  const raw = isPossible(pair) ? await verify(pair) : ({ reason: 'credentials_impossible' } as const)
  if (raw.reason === undefined || presented.method !== 'client_secret_basic') return raw
  const decoded = formDecoded(pair)
  return decoded !== undefined && isPossible(decoded) ? verify(decoded) : raw
}

/** What an event contains about the id that a caller presented. */
export interface PresentedId {
  /** The id itself, if a client or scope with this id exists. */
  readonly known: string | undefined
  readonly fingerprint: string
}

/**
 * Describes a presented id for events. Only a known id is included, because callers sometimes send the secret as the
 * id. The fingerprint is always computed, so that the response time does not reveal whether the id exists.
 */
export function presentedId(presented: string, isKnown: (id: string) => boolean, runtime: Runtime): PresentedId {
  const spellings = [presented, formDecoded({ id: presented, secret: '' })?.id ?? presented]
  return { known: spellings.find(isKnown), fingerprint: fingerprintOf(hashOf(presented, runtime)) }
}
