import { type EndpointKit, hashSecret, type JsonObject } from '@grantry/core'
import type { Describe, Described } from './registration-metadata.ts'
import type { Settings } from './registration-options.ts'
import type { ClientRecord } from './registration-records.ts'

/** Characters of the JSON that is stored of a client. */
const maxSize = 16_384

/** @throws OAuthError if the metadata describes no client */
export function describedOrRefused(describe: Describe, metadata: JsonObject, kit: EndpointKit): Described {
  const described = describe(metadata, kit)
  if (!('client' in described)) throw kit.refuse(described.code, described.text, described.reason)
  const { software_statement: statement } = metadata
  const registered = { ...described.registered, ...(statement !== undefined && { software_statement: statement }) }
  if (JSON.stringify(registered).length > maxSize) {
    throw kit.refuse(
      'invalid_client_metadata',
      `The metadata has more than ${maxSize} characters`,
      'metadata_too_large',
    )
  }
  return { ...described, registered }
}

type Secrets = ClientRecord['secrets']

/** Seconds for which a secret that was replaced stays valid: the response with the new one can be lost. */
const overlap = 86_400

/** A new secret, with those that stay valid for a while. */
export interface NewSecret {
  readonly secret?: string | undefined
  readonly secrets: Secrets
}

/** Creates the first secret of a client, if it needs one. */
export function firstSecret({ needsSecret }: Described, { secretLifetime }: Settings, kit: EndpointKit): NewSecret {
  if (!needsSecret) return { secrets: [] }
  const secret = kit.randomId()
  const { sha256 } = hashSecret(secret)
  return { secret, secrets: [{ sha256, ...(secretLifetime > 0 && { expiresAt: kit.now() + secretLifetime }) }] }
}

/** Creates the next secret if the client has none, or if half of its lifetime is over. */
export function nextSecret(described: Described, earlier: Secrets, settings: Settings, kit: EndpointKit): NewSecret {
  if (!described.needsSecret) return { secrets: [] }
  const now = kit.now()
  const [newest] = earlier
  const isYoung =
    newest !== undefined && (newest.expiresAt ?? Number.POSITIVE_INFINITY) > now + settings.secretLifetime / 2
  if (isYoung) return { secrets: earlier }
  const { secret, secrets } = firstSecret(described, settings, kit)
  const kept = newest && { ...newest, expiresAt: Math.min(newest.expiresAt ?? Number.POSITIVE_INFINITY, now + overlap) }
  return { secret, secrets: [...secrets, ...(kept === undefined ? [] : [kept])] }
}

/** The response about a client. @see RFC 7591 section 3.2.1; RFC 7592 section 3 */
export function clientInformation(
  clientId: string,
  record: Pick<ClientRecord, 'metadata' | 'issuedAt' | 'secrets'>,
  shown: { readonly token: string; readonly secret?: string | undefined },
  kit: EndpointKit,
): JsonObject {
  const [newest] = record.secrets
  return {
    client_id: clientId,
    client_id_issued_at: record.issuedAt,
    ...(shown.secret !== undefined && { client_secret: shown.secret }),
    ...(newest !== undefined && { client_secret_expires_at: newest.expiresAt ?? 0 }),
    registration_access_token: shown.token,
    registration_client_uri: `${kit.endpointUrl('registration')}/${clientId}`,
    ...(record.metadata as JsonObject),
  }
}
