interface Packed {
  readonly version: string
  readonly tarball: string
}
export function prepareOutput(directory: string): void
export function writeArtefacts(
  root: string,
  directory: string,
  packed: readonly Packed[],
  more?: readonly string[],
): { readonly components: number; readonly files: number }
