export function publicEntries(root: string, folders: readonly string[]): readonly string[]
export function exactOptionalProperties(entries: readonly string[]): {
  readonly found: readonly string[]
  readonly types: number
}
