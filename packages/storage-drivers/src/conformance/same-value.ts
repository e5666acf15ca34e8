// A JSON store may reorder the members of an object.
const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value

const canonical = (value: unknown): string => JSON.stringify(value, sorted)

/** Whether a driver returned the written text or the JSON value of it. The core accepts both. */
export function isSame(found: unknown, written: string): boolean {
  if (found === written) return true
  try {
    return canonical(found ?? null) === canonical(JSON.parse(written))
  } catch {
    // Text that is not JSON has no other form.
    return false
  }
}

/** Returns a short form of a value, for messages. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value))
  return text.length > 60 ? `${text.slice(0, 40)}… (${text.length} characters)` : text
}
