import type { ClientOptions } from '@grantry/core'
import type { EntryType } from '../entry-type.ts'

/** Secrets become their ends. */
const endsOf = (secrets: unknown): unknown =>
  Array.isArray(secrets)
    ? secrets.map((secret: { readonly expiresAt?: unknown } | null) => ({ expiresAt: secret?.expiresAt ?? null }))
    : undefined

export const clientType: EntryType<ClientOptions> = {
  kind: 'client',
  noun: 'client',
  idMember: 'clientId',
  switch: 'enabled',
  isEnabled: ({ enabled }) => enabled !== false,
  revocation: (clientId) => ({ clientId }),
  shown: (member, value) => (member === 'secrets' ? endsOf(value) : value),
}
