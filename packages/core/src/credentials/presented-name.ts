import { fingerprintOf, hashOf } from '../records/keys.ts'
import type { Runtime } from '../runtime.ts'
import { formDecoded } from './basic.ts'

/** What an event may say of the id that a caller presented. */
export interface PresentedId {
  /** The id itself, where it is known. */
  readonly known: string | undefined
  readonly fingerprint: string
}

/**
 * Callers mix up the fields for id and secret, so only an id that is known stands in an event. The fingerprint is made in any case: the time of a
 * refusal must not tell whether the id exists.
 */
export function presentedId(presented: string, isKnown: (id: string) => boolean, runtime: Runtime): PresentedId {
  const spellings = [presented, formDecoded({ id: presented, secret: '' })?.id ?? presented]
  return { known: spellings.find(isKnown), fingerprint: fingerprintOf(hashOf(presented, runtime)) }
}
