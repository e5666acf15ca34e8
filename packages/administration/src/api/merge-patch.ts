type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Applies a JSON Merge Patch: `null` removes a member, objects are merged, and any other value replaces the earlier one.
 *
 * @see RFC 7396 section 2
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map<string, unknown>(Object.entries(isObject(target) ? target : {}))
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) merged.delete(member)
    else merged.set(member, mergePatch(merged.get(member), value))
  }
  return Object.fromEntries(merged)
}
