import { isJsonObject, webRuntime } from '@grantry/core'

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns an unused key in the format of the core. */
export const freshKey = (kind = 'code'): string => `${kind}:${hex(webRuntime.randomBytes(32))}`

/** Returns the key under which the core stores a credential. */
export const keyOf = (kind: string, credential: string): string =>
  `${kind}:${hex(webRuntime.sha256(new TextEncoder().encode(credential)))}`

/** Returns a record in the format of the core that contains `value`. */
export const recordOf = (value: unknown): string => JSON.stringify({ version: 1, expiresAt: 4_000_000_000, value })

// A JSON store may reorder the members of an object.
const sorted = (_: string, value: unknown): unknown =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value

const canonical = (value: unknown): string => JSON.stringify(value, sorted)

/** Whether a driver returned the written text or the JSON value of it. The core accepts both. */
export function isSameValue(returned: unknown, written: string): boolean {
  if (returned === written) return true
  try {
    return canonical(returned ?? null) === canonical(JSON.parse(written))
  } catch {
    // Text that is not JSON has no other form.
    return false
  }
}

/** Returns a short form of a value, for messages. */
export function abbreviate(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value))
  return text.length > 60 ? `${text.slice(0, 40)}… (${text.length} characters)` : text
}
