import type { Recorder, Trace } from '../events/recorder.ts'
import { addressGroupOf } from './address-group.ts'

/** Returns the address group of a request, if the adapter reports the client address. */
export type AddressOf = (trace: Trace) => string | undefined

/**
 * Creates a function that returns the address group of a request, and warns once if the adapter does not report the
 * client address. Without an address there is no limit: with a limit for all callers together, an attacker could lock
 * everyone out.
 */
export function createAddressOf(recorder: Recorder): AddressOf {
  let warned = false
  return (trace) => {
    if (trace.clientAddress !== undefined) return addressGroupOf(trace.clientAddress)
    if (!warned) {
      recorder.record(trace, {
        type: 'startup_warning',
        reason: 'client_address_unknown',
        message:
          'abuseControl limits only passwords, because the client address is unknown: pass { clientAddress } to the handler as the second argument',
      })
    }
    warned = true
    return undefined
  }
}
