import { fingerprintOf, hashOf } from '../records/keys.ts'
import type { Runtime } from '../runtime.ts'
import { formDecoded } from './basic.ts'

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
