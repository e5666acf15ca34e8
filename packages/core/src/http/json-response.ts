import type { Runtime } from '../runtime.ts'

const json = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' } as const

/** Every `/connect/*` response, errors and preflights included: wire contract, section 1. */
export const neverStored = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
} as const

export const noStore = { ...json, ...neverStored } as const

/** Discovery and keys: long enough to spare the server, short enough for a new key to be seen before it signs. */
export const cacheable = { ...json, 'cache-control': 'public, max-age=300' } as const

export function jsonResponse(body: unknown, runtime: Runtime): Response {
  return new runtime.Response(JSON.stringify(body), { status: 200, headers: noStore })
}
