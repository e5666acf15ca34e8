interface Source {
  readonly commit: string
  readonly changed: boolean
  readonly lock: string
  readonly programs: Readonly<Record<string, string>>
}
export function provenance(
  sums: string,
  source: Source,
  environment?: Readonly<Record<string, string | undefined>>,
): {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[]
  readonly predicate: {
    readonly buildDefinition: { readonly resolvedDependencies: readonly object[] }
    readonly runDetails: { readonly builder: { readonly id: string } }
  }
}
export function sourceOf(root: string): Source
