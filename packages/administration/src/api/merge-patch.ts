import { isJsonObject } from '@grantry/core'

/**
 * Applies a JSON Merge Patch: `null` removes a member, objects are merged, and any other value replaces the earlier one.
 *
 * @see RFC 7396 section 2
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const merged = new Map<string, unknown>(Object.entries(isJsonObject(target) ? target : {}))
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) merged.delete(member)
    else merged.set(member, mergePatch(merged.get(member), value))
  }
  return Object.fromEntries(merged)
}
