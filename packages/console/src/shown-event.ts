import type { ProviderEvent } from '@grantry/core'

/** The part of an event that the page receives: enough to draw a family, but no credentials. */
export interface ShownEvent {
  readonly id: string
  readonly type: string
  /** Epoch seconds. */
  readonly time: number
  readonly family?: string
  readonly clientId?: string
  readonly grantType?: string
  readonly tokenType?: string
  readonly reason?: string
  readonly fingerprint?: string
}

const shownTypes: ReadonlySet<string> = new Set<ProviderEvent['type']>([
  'token_issued',
  'code_issued',
  'code_redeemed',
  'code_replayed',
  'code_ended',
  'refresh_rotated',
  'refresh_retried',
  'refresh_reused',
  'refresh_outdated',
  'redemption_replayed',
  'family_revoked',
  'token_revoked',
])

const shownFields = ['family', 'clientId', 'grantType', 'tokenType', 'reason', 'fingerprint'] as const

/** Picks the shown fields of an event. It is an allow list, so that new fields do not reach the page unnoticed. */
export function toShownEvent(event: ProviderEvent): ShownEvent | undefined {
  if (!shownTypes.has(event.type)) return undefined
  const { id, type, time } = event
  const shown: Record<string, string> = {}
  for (const name of shownFields) {
    const value = (event as Readonly<Partial<Record<typeof name, unknown>>>)[name]
    if (typeof value === 'string') shown[name] = value
  }
  return { id, type, time, ...shown }
}
