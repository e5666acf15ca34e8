export function writeImage(
  directory: string,
  options?: { readonly node?: string | undefined; readonly server?: string | undefined },
): { readonly digest: string; readonly bytes: number; readonly version: string }
