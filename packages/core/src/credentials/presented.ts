import type { Client } from '../directory/client.ts'
import { isPossibleId } from '../directory/client-members.ts'
import { isReason, OAuthError, reasonOfPlugin } from '../errors/oauth-error.ts'
import type { RequestParameters } from '../http/parameters.ts'
import type {
  ClientAuthentication,
  CredentialFacts,
  PresentedCredentials,
  PresentedSecret,
} from '../parts/client-authentication.ts'
import type { Kit } from '../parts/kit.ts'
import type { OwnedPart } from '../parts/plugin.ts'
import { fingerprintOf } from '../records/keys.ts'
import type { Runtime } from '../runtime.ts'
import { builtInMethods, formDecoded } from './methods.ts'

const maxSecretLength = 512

export const invalidClient = (reason: string, detail?: string): OAuthError =>
  new OAuthError('invalid_client', 'Client authentication failed', { reason, detail })

/**
 * Returns the reason of a method for events. Plugins are not trusted: the stated reason could be anything, such as a
 * secret.
 */
export function reasonOfMethod({ plugin }: Pick<Candidate, 'plugin'>, stated: unknown): string {
  const reason = isReason(stated) ? stated : 'refused'
  return plugin === builtInMethods.name ? reason : reasonOfPlugin(plugin, reason)
}

/** Whether credentials can be right: neither the id nor the secret is too long, and the secret is not empty. */
export const isPossible = ({ clientId, secret }: PresentedCredentials & Partial<PresentedSecret>): boolean =>
  // An empty secret is refused even if the hash of an empty string is stored.
  isPossibleId(clientId) && secret !== '' && (secret === undefined || secret.length <= maxSecretLength)

/** A method with its plugin. */
export interface Candidate {
  readonly plugin: string
  readonly kit: Kit
  readonly method: ClientAuthentication
  /** The form fields of the other methods. */
  readonly foreign: readonly string[]
}

/** What a request presents, and the method that found it. */
export interface Presentation {
  readonly by: Candidate
  readonly presented: PresentedCredentials
  /** What other implicit methods have found. The client determines which of them it uses. */
  readonly others?: readonly Presentation[] | undefined
}

/** Whether a caller can guess what it presents. An id alone is no guess, and neither is a signature. */
export const isGuessable = (presentation: Presentation): boolean =>
  [presentation, ...(presentation.others ?? [])].some(
    ({ by: { method } }) => method.verify === undefined || !method.unguessable,
  )

/** Finds the credentials of a request. */
export type Present = (form: RequestParameters, request: CredentialFacts) => Presentation

const severalMethods = ({ method }: Candidate): OAuthError =>
  new OAuthError(
    'invalid_request',
    method.readsAuthorization
      ? 'Credentials are sent both in the header and in the form'
      : 'Credentials of several methods are sent',
    { reason: 'several_credentials' },
  )

/**
 * Rejects a second authentication method in the form (RFC 6749 section 2.3): a field of another method, or a different
 * `client_id`. The same `client_id` alone is allowed.
 *
 * @throws OAuthError `invalid_request`
 */
export function refuseSecondMethod({ by, presented }: Presentation, form: RequestParameters): void {
  for (const field of by.foreign) if (form[field] !== undefined) throw severalMethods(by)
  const { client_id: id } = form
  if (id === undefined || id === presented.clientId) return
  if (id === by.method.alternative?.(presented as PresentedSecret)?.clientId) return
  const source = by.method.readsAuthorization ? 'Authorization header' : 'other credentials'
  throw new OAuthError('invalid_request', `client_id differs from the ${source}`, { reason: 'client_id_mismatch' })
}

/** Whether a selective method has found what the other one would find in the same form fields. */
const isCovered = ({ method: { consumes } }: Candidate, by: Candidate): boolean =>
  consumes.length > 0 && consumes.every((field) => by.method.consumes.includes(field))

/** Creates the search for the credentials of a request. @see RFC 6749 section 2.3 */
export function createPresent(
  methods: readonly OwnedPart<ClientAuthentication>[],
  kitOf: (plugin: string) => Kit,
): Present {
  const fields = methods.flatMap(({ part }) => part.consumes)
  const candidates = methods.map(({ plugin, part: method }) => ({
    plugin,
    kit: kitOf(plugin),
    method,
    foreign: fields.filter((field) => !method.consumes.includes(field)),
  }))
  const implicit = candidates.filter(({ method }) => method.implicit)
  const explicit = candidates
    .filter(({ method }) => !method.implicit)
    .sort(({ method: left }, { method: right }) => Number(right.selective ?? false) - Number(left.selective ?? false))

  function presentationIn(form: RequestParameters, request: CredentialFacts): Presentation {
    let presentation: Presentation | undefined
    for (const by of explicit) {
      if (presentation?.by.method.selective && isCovered(by, presentation.by)) continue
      const presented = by.method.present(form, request, by.kit)
      if (presented === undefined) continue
      if (presentation !== undefined) throw severalMethods(presentation.by)
      presentation = { by, presented }
    }
    if (!presentation?.by.method.readsAuthorization && request.header('authorization') !== null) {
      throw invalidClient('malformed_authorization')
    }
    if (presentation !== undefined) return presentation
    const [first, ...others] = implicit.flatMap((by) => {
      const presented = by.method.present(form, request, by.kit)
      return presented === undefined ? [] : [{ by, presented }]
    })
    if (first === undefined) throw invalidClient('credentials_missing')
    return others.length === 0 ? first : { ...first, others }
  }

  return (form, request) => {
    const presentation = presentationIn(form, request)
    for (const each of [presentation, ...(presentation.others ?? [])]) {
      refuseSecondMethod(each, form)
      const { malformed } = each.presented
      if (malformed !== undefined) throw invalidClient(reasonOfMethod(each.by, malformed))
    }
    return presentation
  }
}

/**
 * Returns the presentation by the method that the client uses. For an unknown client, that of the last method: those of
 * plugins follow `none`, which does no work, and the response time must not reveal which clients exist.
 */
export function presentationFor(presentation: Presentation, client: Client | undefined): Presentation {
  const { others } = presentation
  if (others === undefined) return presentation
  const isUsed = ({ by: { method } }: Presentation): boolean =>
    client !== undefined &&
    (client.tokenEndpointAuthMethod ?? method.method) === method.method &&
    method.accepts?.(client) === true
  return [presentation, ...others].find(isUsed) ?? others.at(-1) ?? presentation
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
  const spellings = [presented, formDecoded({ clientId: presented, secret: '' })?.clientId ?? presented]
  return { known: spellings.find(isKnown), fingerprint: fingerprintOf(runtime.sha256Hex(presented)) }
}
