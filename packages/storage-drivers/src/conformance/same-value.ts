// A store of JSON may order the members of an object anew.
const sorted = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value

const canonical = (value: unknown): string => JSON.stringify(value, sorted)

/** Whether a driver has given back what was written: the text itself, or the JSON value that it denotes. The core takes both. */
export function isSame(found: unknown, written: string): boolean {
  if (found === written) return true
  try {
    return canonical(found ?? null) === canonical(JSON.parse(written))
  } catch {
    // Text that is no JSON denotes nothing but itself.
    return false
  }
}

/** For a sentence: what was found, in a few characters. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value))
  return text.length > 60 ? `${text.slice(0, 40)}… (${text.length} characters)` : text
}
