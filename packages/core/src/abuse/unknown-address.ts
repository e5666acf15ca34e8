import type { Recorder, Trace } from '../events/trace.ts'
import { addressGroupOf } from './address-group.ts'

/** Whose requests count together, where the host says where a request comes from. */
export type AddressOf = (trace: Trace) => string | undefined

/**
 * Warns once where the host does not say so: without an address nobody is limited, because what is limited for all alike a stranger could take from everybody.
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
          'abuseControl limits nothing but passwords here, because the host does not say where a request comes from: pass { clientAddress } to the handler beside the request',
      })
    }
    warned = true
    return undefined
  }
}
