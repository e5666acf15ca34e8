import { withoutReferences } from '../configuration/environment.ts'

/**
 * Returns a copy of a value for a file, in which no text refers to a variable: a name such as `${SECRET}`, which anyone
 * could have chosen, must not become the secret of the administrator who applies the file.
 */
export function withTextsOnly(value: unknown): unknown {
  if (typeof value === 'string') return withoutReferences(value)
  if (Array.isArray(value)) return value.map(withTextsOnly)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withTextsOnly(member)]))
}
